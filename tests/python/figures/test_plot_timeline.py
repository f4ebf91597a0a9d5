"""The timeline: reading of traces, potential shield times and their excess, merging, and zooming."""

import copy
import json
import math
import pathlib

import pytest
from tailrace import cli
from tailrace.pictures import fault, style, timeline, trace

DATA = pathlib.Path(__file__).parent / "pictures"


def span(kind, name, begin, end, variable=None, iteration=None, pid=1):
    about = {key: value for key, value in (("variable", variable), ("iteration", iteration)) if value is not None}
    return {"ph": "X", "cat": kind, "name": name, "ts": begin, "dur": end - begin, "pid": pid, "tid": 1,
            "args": about}


def block(number, variable, iteration, queued, writing, written):
    steps = [("b", "queued", queued), ("e", "queued", writing), ("b", "writing", writing), ("e", "writing", written)]
    return [{"ph": phase, "cat": kind, "name": variable, "id": number, "ts": at, "pid": 1, "tid": 2,
             "args": {"variable": variable, "iteration": iteration}} for phase, kind, at in steps if at is not None]


def document(*events, program="sim"):
    return {"otherData": {"tailrace_trace": 1, "program": program, "dropped_events": 0}, "traceEvents": list(events)}


def read(*documents):
    return trace.read([(pathlib.Path(f"{k}.json"), one) for k, one in enumerate(documents)])


PROGRAM = [span("compute", "compute v", 1e6, 2e6, "v", 0), span("handover", "borrow v", 2e6, 2.5e6, "v", 0),
           span("compute", "compute v", 4e6, 5e6, "v", 1), span("handover", "borrow v", 5e6, 5.5e6, "v", 1),
           span("compute", "compute v", 6e6, 7e6, "v", 2)]


def test_shields_and_excess():
    run = read(document(*PROGRAM, *block(1, "v", 0, 2.5e6, 3e6, 3.5e6), *block(2, "v", 1, 5.5e6, 5.5e6, 7e6)))
    first, second = run.shields()
    assert (first.begin, first.needed, first.written, first.excess) == pytest.approx((1.5, 3.0, 2.5, 0.0))
    assert (second.begin, second.needed, second.written, second.excess) == pytest.approx((4.5, 5.0, 6.0, 1.0))
    assert run.end == pytest.approx(6.0) and run.variables() == ["v"]
    assert "1 of 2 blocks" in timeline.alt(run)


def test_committed_memory_is_not_needed_again():
    events = [span("handover", "commit v", 0, 1e6, "v", 0), span("handover", "alloc v", 2e6, 5e6, "v", 1),
              span("compute", "compute v", 5e6, 6e6, "v", 1)]
    assert read(document(*events, *block(1, "v", 0, 1e6, 2e6, 3e6))).shields() == []


def test_copied_memory_is_free_at_once():
    copies = [{**event, "name": event["name"].replace("borrow", "write")} for event in PROGRAM]
    run = read(document(*copies, *block(1, "v", 0, 2.5e6, 3e6, 3.5e6), *block(2, "v", 1, 5.5e6, 5.5e6, 7e6)))
    assert run.shields() == [] and "free at once" in timeline.alt(run)
    with style.applied():
        labels = [handle.get_label() for handle in timeline._legend(run)]
    assert not any("excess" in label or "PST" in label for label in labels)


def test_without_the_programs_trace_it_computes_in_between():
    run = read(document(span("handover", "write v", 0, 1e6, "v", 0), span("wait", "flush", 3e6, 4e6)))
    assert trace.computing(run) == [(pytest.approx(1.0), pytest.approx(3.0))]


def test_a_failed_block_has_no_end():
    run = read(document(*PROGRAM, *block(1, "v", 0, 2.5e6, 3e6, None)))
    assert run.blocks[0].written == math.inf and run.shields()[0].excess == 0
    with style.applied():
        assert style.encode(timeline.draw(run), "png")


def test_the_librarys_trace_knows_blocks_better():
    program = document(*PROGRAM, *block(1, "v", 0, 2.5e6, 2.6e6, 9e6), program="pattern")
    library = document(span("handover", "write v", 2.1e6, 2.5e6, "v", 0), *block(9, "v", 0, 2.5e6, 3e6, 3.5e6),
                       {"ph": "C", "name": "memory held", "ts": 2.5e6, "pid": 1, "args": {"bytes": 4096}}, program="")
    for order in ((program, library), (library, program)):
        run = read(*order)
        assert [one.written for one in run.blocks] == [pytest.approx(2.5)]
        assert run.program == "pattern" and run.counters["memory held"] == [(pytest.approx(1.5), 4096.0)]


def test_joined():
    assert trace.joined([(3, 4), (0, 1), (1, 2), (3.5, 3.6)]) == [(0, 2), (3, 4)]
    assert trace.joined([(0, 1), (1.05, 2)], 0.1) == [(0, 2)]


@pytest.mark.parametrize("change, said", [
    (lambda one: one["otherData"].update(tailrace_trace=7), "tailrace_trace is 7"),
    (lambda one: one.pop("otherData"), "not ours"), (lambda one: one.update(traceEvents=3), "expected the list"),
    (lambda one: one["traceEvents"].clear(), "expected categories"),
    (lambda one: one["traceEvents"].insert(2, 5), "traceEvents[2]"),
    (lambda one: one["traceEvents"].insert(4, {"ph": "X", "cat": "wait", "ts": "now", "dur": 1}), '[4]: "ts" is'),
    (lambda one: one["traceEvents"].append({"ph": "C", "name": "x", "ts": 1, "args": {"bytes": "all"}}),
     '"bytes" is'),
    (lambda one: one["traceEvents"].append({"ph": "X", "cat": "wait", "ts": 1, "dur": 1, "args": 3}), '"args"'),
    (lambda one: one["traceEvents"].append(span("wait", "flush", 0, 1, pid=8)), "processes [7, 8]")])
def test_traces_that_are_none(tmp_path, capsys, change, said):
    one = json.loads((DATA / "trace.json").read_text())
    change(one)
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(one))
    assert cli.main(["plot", str(file), "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert said in message and str(file) in message


def test_many_iterations_are_zoomed():
    run = read(json.loads((DATA / "trace.json").read_text()))
    window, chosen = timeline._window(run, None, None)
    assert len(chosen) == 5 and 0 <= window[0] < window[1] <= run.end
    assert timeline._window(run, 0.5, None) == ((0.5, run.end), [])
    with pytest.raises(fault.PictureError, match="nothing to see"):
        timeline._window(run, 99.0, None)


def test_few_iterations_are_shown_whole():
    run = read(document(*PROGRAM))
    assert timeline._window(run, None, None) == ((0.0, run.end), [])


def test_blocks_under_way_at_once_lie_in_rows():
    blocks = [trace.Block("v", k, float(k), k + 1.0, k + 2.5) for k in range(6)]
    assert timeline._rows(blocks, 9.0) == [0, 1, 2, 0, 1, 2]
    assert max(timeline._rows([trace.Block("v", k, 0.0) for k in range(9)], 9.0)) == 3


def test_traces_of_two_processes_are_two_timelines(tmp_path, capsys):
    one = json.loads((DATA / "trace.json").read_text())
    other = copy.deepcopy(one)
    for event in other["traceEvents"]:
        event["pid"] = 8
    for name, content in (("a", one), ("b", other), ("c", one)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    files = [str(tmp_path / f"{name}.json") for name in "abc"]
    assert cli.main(["plot", *files, "--out", str(tmp_path), "--format", "png", "--to", "0.4"]) == 0
    assert [pathlib.Path(line).name for line in capsys.readouterr().out.splitlines()] == ["a_timeline.png",
                                                                                          "b_timeline.png"]
