"""Variability tiles: reading of write times, with clear errors, and the figures computed from them."""

import json

import pytest
from tailrace import cli
from tailrace.pictures import style
from tailrace_lab.pictures import numbers, tiles, write_times

GOOD = "run,process,seconds,bytes\na,0,1.0,100\na,1,4.0,100\nb,0,2,300\n"


def read(tmp_path, text):
    file = tmp_path / "times.csv"
    file.write_text(text)
    return write_times.from_csv(file, text)


def test_a_run_is_as_slow_as_its_slowest_process(tmp_path):
    first, second = read(tmp_path, GOOD)
    assert (first.name, first.slowest, first.bytes, first.throughput) == ("a", 4.0, 200.0, 50.0)
    assert first.wasted == pytest.approx(3 / 8)
    assert second.wasted == 0 and second.throughput == 150


@pytest.mark.parametrize("text", [
    "# by hand\n\nbytes;seconds;process;run;note\n100;1.0;0;a;x\n100;4.0;1;a;x\n",
    "run\tprocess\tseconds\tbytes\na\t0\t1.0\t100\na\t1\t4.0\t100\n",
    '\ufeffRun, Process, Seconds, Bytes\r\n"a", 0, 1.0, 100\r\na, 1, 4e0, 1e2\r\n'])
def test_other_ways_to_write_csv(tmp_path, text):
    (run,) = read(tmp_path, text)
    assert (run.name, run.seconds, run.bytes) == ("a", [1.0, 4.0], 200.0)


def test_json_and_experiments(tmp_path):
    rows = [{"run": 1, "process": k, "seconds": 1 + k, "bytes": 8, "experiment": name}
            for name in "xy" for k in (0, 1)]
    for document in (rows, {"write_times": rows}):
        runs = write_times.from_json(tmp_path / "t.json", document)
        assert [(run.experiment, run.name, run.slowest) for run in runs] == [("x", "1", 2.0), ("y", "1", 2.0)]


@pytest.mark.parametrize("text, place, said", [
    ("", "times.csv", "expected a first line"), ("run,process,seconds\n", ":1", 'no column "bytes"'),
    ("run,process,seconds,bytes\n", "times.csv", "no row"), (GOOD + "b,1,2\n", ":5", "3 columns; expected 4"),
    (GOOD + "b,1,fast,3\n", ":5", 'column "seconds": found "fast", expected a number of s'),
    (GOOD + "b,1,-1,3\n", ":5", 'found "-1"'), (GOOD + "b,1,nan,3\n", ":5", 'found "nan"'),
    (GOOD + "b,1,1,many\n", ":5", 'column "bytes": found "many"'), (GOOD + "a,1,1,3\n", ":5", "stands at"),
    ("run,process,seconds,bytes\nc,0,0,1\n", "times.csv", "took no time")])
def test_complaints_name_line_and_column(tmp_path, capsys, text, place, said):
    file = tmp_path / "times.csv"
    file.write_text(text)
    assert cli.main(["plot", str(file), "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert f"{file}"[:-9] + place.lstrip(":") in message or f"{file}{place}" in message
    assert said in message and "expected" in message and message.count("\n") == 1


@pytest.mark.parametrize("document, said", [
    ([], "no row"), ([1], "row 1: not an object"), ([{"run": 1, "process": 2, "seconds": 3}], 'row 1: no "bytes"'),
    ({"write_times": 3}, "not a list"), ([{"run": 1, "process": 2, "seconds": True, "bytes": 1}], 'found "True"')])
def test_complaints_about_json(tmp_path, capsys, document, said):
    file = tmp_path / "times.json"
    file.write_text(json.dumps(document))
    assert cli.main(["plot", str(file), "--out", str(tmp_path)]) == 1
    assert said in capsys.readouterr().err


def made(count, processes):
    return [write_times.Run("", str(k), [1.0 + (k * p) % 7 for p in range(processes)], 1e9 * 10 ** (k % 3))
            for k in range(count)]


@pytest.mark.parametrize("count, processes", [(1, 1), (1, 5000), (7, 3), (200, 4)])
def test_few_and_many(count, processes):
    runs = made(count, processes)
    with style.applied():
        figure = tiles.draw(runs)
    assert style.encode(figure, "png")
    shown = sum(axes.axison for axes in figure.axes) - 1  # one is the scale
    assert shown == min(count, 60)
    assert ("of 200 runs" in figure.get_suptitle()) == (count == 200)
    assert f"{count} runs" in tiles.alt(runs)


@pytest.mark.parametrize("runs, said", [
    (None, "interval of confidence of the median"), (1, "interval of confidence of the median"),
    (3, "75 % interval of confidence of the median, 3 runs"),
    (5, "93.8 % interval of confidence of the median, 5 runs"),
    (10, "99.7 % interval of confidence of the median, 10 runs")])
def test_confidence_is_what_the_runs_allow(runs, said):
    assert numbers.interval({"settings": {"repeats": runs} if runs else {}}) == said
