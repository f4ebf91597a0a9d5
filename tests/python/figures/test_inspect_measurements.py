"""`tailrace inspect` of statistics and traces: its output, and its messages on files that it cannot read."""

import json

import numpy as np
import pytest
import tailrace


@pytest.fixture
def measured(config, out):
    """An output directory with two iterations, statistics and a trace."""
    file = config()
    file.write_text(file.read_text() + "measurements: {report: true, trace: true}\n")
    with tailrace.open(file) as client:
        for step in (0, 1):
            client.write("temperature", step, np.ones((4, 6)))
            client.write("field", step, np.ones(65536))
            client.read("field", step)
            client.end_iteration(step)
    return out


@pytest.fixture
def report(measured):
    """Returns the statistics as an object, and a function that replaces them by another object."""
    path = measured / "sim_c0.stats.json"
    return json.loads(path.read_text()), lambda document: path.write_text(json.dumps(document)), path


def lines_of(text):
    return [line.split() for line in text.splitlines()]


def test_statistics(run, measured):
    code, text, message = run("inspect", measured / "sim_c0.stats.json")
    assert code == 0 and message == ""
    lines = lines_of(text)
    assert lines[0][1:] == ["sim,", "client", "0,", "tailrace", tailrace.__version__]
    assert "thread" in text and "\x1b" not in text
    assert ["blocks", "4", "accepted,", "4", "written"] in lines
    assert ["iterations", "2", "ended,", "2", "published"] in lines
    (merged,) = {line[6] for line in lines if line[:2] == ["field", "2"]}
    assert ["field", "2", "2", "0", "0", "0", merged, "1", "MiB"] in lines
    for variable, what in (("field", "hand-over"), ("field", "queued"), ("field", "writing"), ("field", "waiting"),
                           ("temperature", "hand-over")):
        (line,) = [line for line in lines if line[:2] == [variable, what]]
        assert line[2] == "2" and len(line) == 13  # five times with their units
    # Events that never happened have no line of times.
    assert not [line for line in lines if line[:1] == ["third"] and "hand-over" in line]
    assert not [line for line in lines if line[:2] == ["temperature", "waiting"]]
    assert "failures" not in text and "dropped" not in text


def test_statistics_as_json(run, report):
    document, _, path = report
    code, text, _ = run("inspect", path, "--json")
    assert code == 0 and json.loads(text) == [{"path": str(path), "statistics": document}]


def test_statistics_that_tell_of_losses(run, report):
    document, write, path = report
    document["totals"] |= {"blocks_failed": 3, "blocks_dropped": 5, "failures": 4, "failures_unseen": 1, "signals": 2,
                           "transfers_again": 6, "transfer_fallbacks": 7, "iterations_failed": 8}
    write(document)
    code, text, _ = run("inspect", path)
    assert code == 0
    for words in ("3 failed", "5 dropped", "4, 1 untold", "6 continued", "7 refused there", "8 failed"):
        assert words in text, words


def test_a_trace(run, measured):
    path = measured / "sim_c0.trace.json"
    code, text, _ = run("inspect", path)
    assert code == 0 and "trace of sim" in text and f"tailrace report {path}" in text and "dropped" not in text
    lines = lines_of(text)
    assert ["handover", "6"] in lines and ["queued", "4"] in lines and ["writing", "4"] in lines
    assert ["publish", "2"] in lines and ["wait", "3"] in lines
    (found,) = json.loads(run("inspect", path, "--json")[1])
    assert found["trace"]["dropped_events"] == 0 and found["trace"]["categories"]["queued"] == 4
    assert 0 < found["trace"]["seconds"] < 600


def test_a_directory(run, measured):
    code, text, message = run("inspect", measured)
    assert code == 0 and message == ""
    (statistics,) = [line for line in text.splitlines() if line.startswith("statistics: ")]
    assert "sim_c0.stats.json: 4 blocks" in statistics and "0 failures" in statistics
    (trace,) = [line for line in text.splitlines() if line.startswith("trace: ")]
    assert trace.startswith("trace: sim_c0.trace.json: ")
    assert trace.endswith(f"tailrace report {measured / 'sim_c0.trace.json'}")
    assert "sim_c0_%06T.h5" in text
    (found,) = json.loads(run("inspect", measured, "--json")[1])
    (one,) = found["measurements"]["statistics"]
    assert one["file"] == "sim_c0.stats.json" and one["blocks_written"] == 4
    assert [trace["file"] for trace in found["measurements"]["traces"]] == ["sim_c0.trace.json"]


def test_a_directory_with_statistics_that_cannot_be_read(run, measured):
    (measured / "old_c1.stats.json").write_text('{"tailrace_stats": 0}')
    code, text, message = run("inspect", measured)
    assert code == 1 and "old_c1.stats.json: tailrace_stats: found version 0, expected 1" in message
    assert "statistics: old_c1.stats.json: cannot be read" in text and "sim_c0.stats.json: 4 blocks" in text
    code, text, _ = run("inspect", measured, "--json")
    assert code == 1 and "version 0" in json.loads(text)[0]["measurements"]["statistics"][0]["error"]


def test_truncated_files(run, measured):
    for path in (measured / "sim_c0.stats.json", measured / "sim_c0.trace.json"):
        whole = path.read_bytes()
        for length in (0, 1, len(whole) // 3, len(whole) - 3):
            path.write_bytes(whole[:length])
            code, text, message = run("inspect", path)
            assert code == 1 and text == "", length
            assert str(path) in message and "truncated or damaged: line " in message


@pytest.mark.parametrize("content, words", [
    (b"\xff\xfe{}", "byte 0: found no UTF-8"),
    (b"{]", "line 1, column 2: expected JSON"),
    (b"[1, 2]", 'expected "tailrace_stats" or "traceEvents"'),
    (b"{}", 'expected "tailrace_stats" or "traceEvents"'),
    (b'{"tailrace_result": 1}', "a result file"),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"tailrace_stats": 2}', "found version 2, expected 1"),
    (b'{"tailrace_stats": "1"}', "found version '1', expected 1"),
    (b'{"tailrace_stats": true}', "found version True, expected 1"),
    (b'{"tailrace_stats": 1}', "name: found nothing, expected a text"),
    (b'{"traceEvents": []}', "otherData.tailrace_trace: found nothing"),
    (b'{"traceEvents": [], "otherData": {"tailrace_trace": 7}}', "found version 7, expected 1"),
    (b'{"traceEvents": 3, "otherData": {"tailrace_trace": 1}}', "traceEvents: found 3, expected a list"),
    (b'{"traceEvents": [{"ph": "X"}], "otherData": {"tailrace_trace": 1}}', "traceEvents[0].ts: found nothing"),
    (b'{"traceEvents": [3], "otherData": {"tailrace_trace": 1}}', "traceEvents[0]: found no event"),
    (b'{"traceEvents": [], "otherData": {"tailrace_trace": 1}}', "otherData.dropped_events: found nothing"),
])
def test_files_that_are_something_else(run, tmp_path, content, words):
    path = tmp_path / "x_c0.stats.json"
    path.write_bytes(content)
    code, text, message = run("inspect", path)
    assert code == 1 and text == "" and message.startswith(f"tailrace: {path}: ") and words in message
    code, text, _ = run("inspect", path, "--json")
    assert code == 1 and words in json.loads(text)[0]["error"]


def test_no_file(run, tmp_path):
    code, _, message = run("inspect", tmp_path / "missing.stats.json")
    assert code == 1 and "no such file" in message


# Members that an earlier tailrace lacks: the first of them decides whether the others are required.
LATER = ("iterations_limit", "iterations_peak", "blocks_cached", "chunks_filtered", "filtering", "accesses")


def test_every_number_that_is_printed_must_be_there(run, report):
    document, write, path = report

    def expect(words):
        write(document)
        code, text, message = run("inspect", path)
        assert code == 1 and text == "" and words in message, (words, message)

    for holder, where in ((document["totals"], "totals"), (document["variables"][3], "variables[3]"),
                          (document["variables"][0]["queued"], "variables[0].queued")):
        for name in [name for name in holder if name not in ("name", "histogram")]:
            kept = holder.pop(name)
            if name not in LATER:
                expect(f"{where}.{name}: found nothing, expected ")
            holder[name] = "many"
            expect(f"{where}.{name}: found 'many', expected ")
            holder[name] = kept
    for value in (-1, True):
        document["totals"]["transfers"] = value
        expect("totals.transfers: found ")
    for value in (float("nan"), float("inf")):
        document["totals"]["transfers"] = value
        expect("expected JSON")
