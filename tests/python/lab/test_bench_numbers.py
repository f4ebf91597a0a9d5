"""The test-bed's figures and files: statistics, predictions, limits, and the errors for a wrong result file."""

import copy
import json

import pytest
from tailrace_lab.bench import command, evaluate, machine, pattern, result, statistics, writers
from tailrace_lab.cli import bench_table, bench_variables

FIT = {"seconds": 0.01, "intercept": 0.0, "r2": 1.0, "dropped": 2, "samples": [[1, 0.01], [2, 0.02]]}
VALUE = {"median": 1.0, "least": 0.9, "most": 1.2, "ci_low": 0.9, "ci_high": 1.2, "runs": 5}


def series(writer="tailrace", **more):
    return {"writer": writer, "switches": {}, "model": None, "predicted_seconds": None, "deviation": None,
            "summary": {"total": VALUE}, "runs": [], **more}


def document(**more):
    return {"tailrace_result": 1, "kind": "pattern", "created": "2026-11-22T01:02:03Z", "command": "tailrace bench",
            "tailrace": "0.1.0", "machine": {}, "storage": [],
            "settings": {"iterations": 4, "bytes": 8, "repeats": 5},
            "measured": {name: dict(FIT) for name in ("write_regression", "write_saturation", "request", "copy")},
            "points": [{"c_over_w_asked": 1.0, "compute_seconds": 1.0, "write_seconds": 1.0, "limit_seconds": 5.0,
                        "models": {"model1": 5.0}, "series": {"sync": series("sync")}}], **more}


def test_summaries():
    one = statistics.summarise([3.0, 1.0, 2.0, 5.0, 4.0])
    assert (one.median, one.least, one.most, one.runs) == (3.0, 1.0, 5.0, 5)
    assert one.least <= one.ci_low <= one.median <= one.ci_high <= one.most
    assert statistics.summarise([5.0, 4.0, 3.0, 2.0, 1.0]) == one  # the order does not matter, and the seed is fixed
    alone = statistics.summarise([2.0])
    assert (alone.ci_low, alone.ci_high, alone.runs) == (2.0, 2.0, 1)
    many = statistics.summarise([100.0] + [1.0 + i / 1000 for i in range(99)])
    assert many.ci_high < 1.1 < many.most  # one outlier of a hundred does not widen it


@pytest.mark.parametrize("name, title, arguments, model", [
    ("none", "none", "--write none", None), ("sync", "sync", "--write sync", "sync"),
    ("sync-hdf5", "sync-hdf5", "--write sync-hdf5", None),
    ("sync-buffered", "sync buffered", "--write sync --direct off", None),
    ("tailrace-alloc", "tailrace alloc", "--write tailrace --verb alloc", "model2"),
    ("tailrace-write", "tailrace write", "--write tailrace --verb write", "model2_copy"),
    ("tailrace-write-unpinned", "tailrace write unpinned", "--write tailrace --verb write --pin none", "model2_copy"),
    ("tailrace-write-forwarded", "tailrace write forwarded", "--write tailrace --verb write", None),
    ("tailrace-borrow-unaligned", "tailrace borrow unaligned", "--write tailrace --verb borrow --buffers unaligned",
     None),
    ("tailrace-alloc-buffered", "tailrace alloc buffered", "--write tailrace --verb alloc --direct off", None)])
def test_writers(name, title, arguments, model):
    writer = writers.parse(name)
    assert (writer.title, " ".join(writer.arguments), writer.model) == (title, arguments, model)
    assert writer.copies == (name in ("tailrace-write", "tailrace-write-unpinned", "tailrace-write-forwarded",
                                       "tailrace-borrow-unaligned"))
    assert writer.forwarded == name.endswith("forwarded")


def test_every_rung_has_a_writer():
    assert len({rung.name for rung in writers.LADDER}) == len(writers.LADDER) == 9
    for rung in writers.LADDER:
        writers.parse(rung.writer)


def test_predictions():
    inputs = evaluate.Inputs(compute_seconds=2.0, write_seconds=1.0, write_copy_seconds=1.2,
                             sync_write_seconds=1.5, request_seconds=0.1, copy_seconds=0.5,
                             memcpy_seconds=0.5)
    models = evaluate.predict(inputs, iterations=4, variables=1, devices=1)
    assert models == pytest.approx({"model1": 9.0, "model2": 9.4, "model3": 9.0, "sync": 14.0, "model2_copy": 11.6,
                                    "pipelined": 9.4, "pipelined_copy": 11.6})
    alloc = writers.parse("tailrace-alloc")
    assert evaluate.model_of(alloc, 1, 1) == "model2" and evaluate.model_of(alloc, 1, 2) == "pipelined"
    assert evaluate.model_of(writers.parse("tailrace-write"), 2, 1) == "pipelined_copy"


def run(writer, computing, waiting):
    return {"writer": writer, "switches": {}, "iterations": 4, "variables": 1, "devices": 1,
            "seconds_total": computing + waiting, "seconds_computing": computing, "seconds_waiting": waiting,
            "peak_memory_bytes": 1, "cache_misses": 7}


def test_a_point():
    inputs = evaluate.Inputs(2.0, 1.0, 1.0, 1.0, 0.0, 0.5, 0.5)
    slower = evaluate.Inputs(4.0, 1.0, 1.0, 1.0, 0.0, 0.5, 0.5)
    chosen = [writers.parse(name) for name in ("none", "sync", "tailrace-write", "tailrace-alloc", "posix-aio")]
    runs = {"none": [run("none", 8.0, 0.0)] * 3, "sync": [run("sync", 8.0, waiting) for waiting in (4.0, 4.0, 8.0)],
            "tailrace-write": [run("tailrace", 8.8, waiting) for waiting in (2.0, 2.0, 2.0)],
            "tailrace-alloc": [run("tailrace", 8.0, waiting) for waiting in (1.0, 1.0, 4.0)], "posix-aio": []}
    about, found = evaluate.point(2.0, inputs, slower, chosen, runs, {"posix-aio": "no luck"})
    assert (about["compute_seconds"], about["write_seconds"]) == (2.0, 1.0)
    assert (about["limit_seconds"], about["limit_copy_seconds"]) == (9.0, 11.0)
    write, alloc = found["tailrace-write"]["summary"], found["tailrace-alloc"]["summary"]
    assert write["to_limit"]["median"] == pytest.approx(10.8 / 11)
    assert write["slowdown"]["median"] == pytest.approx(0.1)
    assert alloc["to_limit"]["median"] == pytest.approx(1.0)
    # OO of a round refers to the synchronous run of the same round.
    assert (alloc["overlap"]["median"], alloc["overlap"]["least"]) == pytest.approx((0.75, 0.5))
    assert alloc["cache_misses"]["median"] == 7
    # The least beside the prediction from the least inputs; the medians beside that from the medians.
    assert found["tailrace-alloc"]["deviation"] == pytest.approx(0.0)
    assert found["sync"]["deviation_of_medians"] == pytest.approx(12 / 20 - 1)
    assert about["predicted_from"] == inputs.document() and about["predicted_from_medians"] == slower.document()
    assert found["none"]["deviation"] is None
    assert "to_limit" not in found["none"]["summary"] and "overlap" not in found["sync"]["summary"]
    assert found["posix-aio"] == {"writer": "posix-aio", "name": "posix-aio", "error": "no luck"}


def test_the_interval_of_a_prediction():
    slopes = [{"write_saturation": w, "write_saturation_busy": w, "write_regression": w, "write_saturation_copy": w,
               "write_copy": 0.5, "copy": 0.5} for w in (1.0, 1.5, 3.0)]
    none = [run("none", computing, 0.0) for computing in (8.0, 7.2, 8.8)]
    spread = evaluate.spread(none, slopes, 0.0)
    # Of each round, then the least of each and the most of each: C and W of n = 4.
    assert [one.compute_seconds for one in spread] == pytest.approx([2.0, 1.8, 2.2, 1.8, 2.2])
    assert [one.write_seconds for one in spread] == pytest.approx([1.0, 1.5, 3.0, 1.0, 3.0])
    runs = {"none": none, "sync": [run("sync", 8.0, 4.0)] * 3, "tailrace-alloc": [run("tailrace", 8.0, 2.0)] * 3}
    chosen = [writers.parse(name) for name in runs]
    _, found = evaluate.point(2.0, spread[3], spread[0], chosen, runs, {}, spread)
    low, high = found["tailrace-alloc"]["predicted_interval"]
    assert (low, high) == pytest.approx((1.8 + 1.0 + 3 * 1.8, 2.2 + 3.0 + 3 * 3.0))
    assert found["tailrace-alloc"]["within_interval"] is True
    assert "predicted_interval" not in found["none"]
    assert evaluate.interval([1.0, 2.0], {"median": 2.1})["within_interval"] is False


def test_the_command_line_of_settings():
    assert command.line(pattern.Settings(ratios=(0.5, 2.0), variables=3, bytes=96 << 20)) == (
        "tailrace bench pattern --dir out/bench --bytes 96MiB --iterations 16 --repeats 5 --ratio 0.5,2 --writers "
        "none,sync,tailrace-alloc,tailrace-write --variables 3")
    assert "--compute-time 0.4s --ablation" in command.line(pattern.Settings(compute_seconds=0.4, ablation=True))
    assert [command.size(count) for count in (1, 1536, 3 << 30, 1000)] == ["1B", "1536B", "3GiB", "1000B"]


def test_the_machine(tmp_path):
    assert machine.describe()["cpus"] >= 1 and machine.describe()["memory_bytes"] > 1 << 20
    assert machine.filesystem(tmp_path) not in ("", "unknown")


def test_variables():
    runs = [{"per_variable": [{"name": "v0", "pst_seconds": [0.1, 0.2], "write_seconds": [0.3, None],
                               "excess_seconds": None}]}] * 2
    assert bench_variables.rows(runs) == [("v0", ["150.00", "300.00", "–", "–"])]


def test_what_is_said_of_bad_results():
    slow = {"writer": "tailrace", "summary": {"total": dict(VALUE, median=3.0), "slowdown": dict(VALUE, median=-0.01),
                                              "overlap": dict(VALUE, median=-0.5)}}
    made = document()
    made["points"][0]["series"]["tailrace alloc"] = slow
    said = bench_table.conclusion(made)
    assert "was slower: it took" in said and "% more)" in said and "waited no less" in said
    assert "1.0 % faster than without output" in said
    assert any("busy with other things" in line for line in bench_table.doubts(made))


def test_a_result_comes_back(tmp_path):
    file = tmp_path / "result.json"
    result.validate(document(kind="peers", more={"later": "programs may add"})).save(file)
    assert result.load(file).document == document(kind="peers", more={"later": "programs may add"})
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


def test_peers_need_no_measurements():
    made = document(kind="peers")
    del made["measured"]
    assert result.validate(made).measured is None


def altered(place, value):
    made = copy.deepcopy(document())
    *path, last = place
    at = made
    for step in path:
        at = at[step]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return made


TOTAL = ("points", 0, "series", "sync", "summary", "total")


@pytest.mark.parametrize("place, value, told", [
    (("tailrace_result",), 2, "tailrace_result: found 2, expected 1: the file is of another version"),
    (("tailrace_result",), None, 'without "tailrace_result"\', expected a result file'),
    (("kind",), "pigeons", "kind: found 'pigeons', expected 'pattern' or 'peers'"),
    (("points",), None, "points: found nothing, expected a list"),
    (("points",), {}, "points: found {}, expected a list"),
    (("points", 0), 5, "points[0]: found 5, expected an object"),
    (("points", 0, "limit_seconds"), "1 s", "points[0].limit_seconds: found '1 s', expected a number"),
    (("points", 0, "limit_seconds"), True, "points[0].limit_seconds: found True, expected a number"),
    (("points", 0, "limit_seconds"), float("nan"), "points[0].limit_seconds: found nan, expected a number"),
    (("steal",), {"runs": 1}, "steal.limit: found nothing, expected a number"),
    ((*TOTAL, "median"), None, 'points[0].series."sync".summary.total.median: found nothing, expected a number'),
    (TOTAL, None, 'points[0].series."sync".summary.total: found nothing, expected an object'),
    (("measured", "copy", "samples"), [[1]], "measured.copy.samples[0]: found [1], expected [n, seconds]"),
    (("measured", "request"), None, "measured.request: found nothing, expected an object"),
    (("settings", "bytes"), None, "settings.bytes: found nothing, expected a number"),
    (("points", 0, "models"), {"model1": "x" * 99}, "points[0].models.model1: found a text, expected a number"),
    (("points", 0, "series", "sync", "error"), 1, 'points[0].series."sync".error: found 1, expected a text')])
def test_wrong_results(tmp_path, place, value, told):
    file = tmp_path / "result.json"
    file.write_text(json.dumps(altered(place, value)))
    with pytest.raises(result.ResultError) as raised:
        result.load(file)
    assert str(raised.value).startswith(f"{file}: ") and told in str(raised.value), str(raised.value)


@pytest.mark.parametrize("text, told", [
    (b"", "found an empty file"), (b"[1, 2]", "found [1, 2], expected a result file"),
    (b"\x89PNG\xff", "found no text"), (b'{"a": 1}\ngarbage', ":2:1: found 'garbage'"), (b"null", "found None"),
    (b"[" * 100_000, "beyond reason"), (b"1" * 5000, "expected a result file")])
def test_files_that_are_no_results(tmp_path, text, told):
    file = tmp_path / "other"
    file.write_bytes(text)
    with pytest.raises(result.ResultError) as raised:
        result.load(file)
    assert str(file) in str(raised.value) and told in str(raised.value), str(raised.value)


def test_truncated_anywhere(tmp_path):
    file = tmp_path / "result.json"
    text = json.dumps(document(), indent=1)
    for length in range(1, len(text), 7):
        file.write_text(text[:length])
        with pytest.raises(result.ResultError) as raised:
            result.load(file)
        # Cut inside a word or a number, it looks damaged, not truncated.
        assert f"{file}:" in str(raised.value) and "expected" in str(raised.value), str(raised.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(result.ResultError, match="No such file"):
        result.load(tmp_path / "none.json")
