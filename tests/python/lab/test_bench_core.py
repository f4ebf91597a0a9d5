"""`tailrace bench core` and `jitter`: the commands, on a fake program that answers at once, and on the real one if it
is built (tiny sizes: nothing here tests speed)."""

import json
import os
import pathlib
import sys

import pytest
from tailrace import cli
from tailrace.pictures import source
from tailrace_lab.bench import bars, load, program, runtime_directory

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
CORE_BENCH = REPOSITORY / "build/release/lab/core/core_bench"

# Answers as lab/core does, with times by formula: putting a block takes 2 ms by posix, 4 by hdf5, 1 by tailrace,
# and every fourth time three times as long; a memcpy takes 10 ms and `write` 12; process p takes p tenths longer.
# Logs its arguments beside itself, and fails at what its file `mood` names.
CORE_BENCH_FAKE = '''\
#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
with open(here / "log", "a") as log:
    log.write(json.dumps(words) + "\\n")
mood = (here / "mood").read_text() if (here / "mood").exists() else ""
option = lambda name, default: words[words.index(name) + 1] if name in words else default
if mood and mood in " ".join(words):
    sys.exit("core_bench: it has no luck today")
n = int(option("--count", 0))
if words[0] == "copy":
    print(json.dumps({{"core_copy": 1, "bytes": 1, "description": "", "waited_memory": 0, "write": [12e-3] * n,
                      "memcpy_private": [10e-3] * n, "memcpy_shared": [11e-3] * n}}))
elif words[0] == "open":
    place = 4e-3 if "thread" in words else 20e-3 if "--beside" in words else 70e-3
    print(json.dumps({{"core_open": 1, "open": place, "handovers": [12e-3, 10e-3, 10e-3], "description": ""}}))
elif words[0] == "calls":
    each = {{"alloc": [12e-6] * n, "commit": [7e-6] * n, "signal": [6e-6] * n, "wake": [4e-6] * n}}
    both = {{"asleep": each, "busy": each}}
    print(json.dumps({{"core_calls": 1, "small": both, "large": both}}))
else:
    way = option("--way", "core")
    put = {{"posix": 2e-3, "hdf5": 4e-3}}.get(way, 1e-3)
    count, c = int(option("--iterations", 1)), 1e-3 * int(option("--passes", 1))
    processes = []
    for p in range(int(option("--processes", 1))):
        at, begin, end = 100.0, [], []
        for i in range(count):
            begin.append(at + c)
            each = put * (3 if i % 4 == 0 else 1)
            end.append(begin[-1] + (1 + p / 10) * each)
            at = begin[-1] + (1 + (int(option("--processes", 1)) - 1) / 10) * each  # the slowest's end
        on = option("--compress", "none") != "none"
        processes.append({{"started": 100.0, "computed": count * c, "left": at, "done": at + 1e-3,
            "cpu": [c * (1.02 if way == "core" else 1)] * count,
            "waited_memory": 0, "begin": begin, "end": end, "filtered": {{"bytes": 8 * on, "stored": 2 * on,
            "seconds": 8e-3 * on, "chunks": 8 * on, "relaxed": 1 * on, "skipped": 1 * on}}}})
    print(json.dumps({{"core_run": 1, "way": way, "compress": option("--compress", "none"), "iterations": count,
                      "bytes": int(option("--bytes", 1)), "description": "made up: " + way, "processes": processes}}))
'''

PATTERN_FAKE = '''\
#!{python}
import json
print(json.dumps({{"pattern_calibrate": 1, "passes": 100, "seconds_per_pass": 1e-3}}))
'''

# Writes what the test expects from fio, and ends as fio does.
FIO_FAKE = '''\
#!{python}
import json, pathlib, signal, sys
directory = next(word for word in sys.argv if word.startswith("--directory=")).partition("=")[2]
if "fail" in directory:
    sys.exit("fio: no such engine")
def end(*_):
    print("fio: terminating on signal 2")
    print(json.dumps({{"jobs": [{{"write": {{"bw_bytes": 123_000_000}}}}]}}))
    sys.exit(128)
signal.signal(signal.SIGINT, end)
(pathlib.Path(directory) / "load").write_bytes(bytes(32 << 20))
signal.pause()
'''


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    return path


@pytest.fixture
def fake(tmp_path):
    executable(tmp_path / "build/pattern/pattern", PATTERN_FAKE)
    return executable(tmp_path / "build/core/core_bench", CORE_BENCH_FAKE)


@pytest.fixture
def fio(tmp_path, monkeypatch):
    """A fake fio is the only program on PATH."""
    executable(tmp_path / "bin/fio", FIO_FAKE)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("TAILRACE_MPI", raising=False)


@pytest.fixture
def bench(tmp_path, fake, capsys):
    """Runs a command with the fake program; returns exit code, output and messages."""
    def call(what, *arguments):
        code = cli.main(["bench", what, "--program", str(fake), "--dir", str(tmp_path / "out"),
                         *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def commands(fake):
    return [" ".join(json.loads(line)) for line in (fake.parent / "log").read_text().splitlines()]


def document(bench, tmp_path, what, *arguments):
    file = tmp_path / "result.json"
    code, said, complaints = bench(what, *arguments, "--json", file)
    assert (code, complaints) == (0, "")
    return json.loads(file.read_text()), said


def test_a_bar():
    bar = bars.Bar("one", "s", [1.0, 3.0, 2.0], 2.0)
    assert (bar.median, bar.met, bar.above) == (2.0, True, 1)
    assert bars.Bar("one", "s", [1.0, 3.0, 2.0], 2.0, "most").met is False
    assert bars.Bar("one", "s", [1.0]).met is None
    assert bar.document() == {"name": "one", "unit": "s", "median": 2.0, "least": 1.0, "most": 3.0, "count": 3,
                              "above": 1, "bar": 2.0, "judge": "median", "met": True, "note": ""}


def test_bars_of_copy_and_calls(bench, tmp_path, fake):
    found, said = document(bench, tmp_path, "core", "--only", "copy,calls", "--markdown")
    assert found["tailrace_bars"] == 1 and found["missing"] == []
    by_name = {bar["name"]: bar for bar in found["bars"]}
    copy = by_name["write of 64 MiB / memcpy into private memory"]
    assert copy["median"] == pytest.approx(1.2) and copy["bar"] == 1.25 and copy["met"] and copy["count"] == 20
    assert by_name["alloc + commit, 1 MiB, server busy"]["median"] == pytest.approx(19)
    signal = by_name["signal, server asleep"]
    assert signal["median"] == pytest.approx(6) and not signal["met"] and signal["above"] == 800
    assert by_name["signal, server asleep / a bare wake-up"]["median"] == pytest.approx(1.5)
    assert by_name["alloc + commit, 4 KiB, server asleep / a bare wake-up"]["median"] == pytest.approx(19 / 4)
    assert "1.25 × a bare wake-up" in signal["note"]
    assert found["steal"].items() >= {"limit": 0.01, "tries": 6, "runs": 2, "repeated": 0, "disturbed": 0}.items()
    for words in ("bars kept: 5 of 7", "| median |",
                  "missed: signal, server asleep", "≤ 1.25 ×", "again: tailrace bench core"):
        assert words in said, said
    assert "--bytes 67108864 --count 20" in commands(fake)[0]


def test_bars_of_open(bench, tmp_path, fake):
    found, said = document(bench, tmp_path, "core", "--only", "open")
    by_name = {bar["name"]: bar for bar in found["bars"]}
    assert by_name["open in place thread, budget 256 MiB"]["median"] == pytest.approx(4)
    assert not by_name["open in place core, its server with it, budget 256 MiB"]["met"]
    first = by_name["core, the server running: first write of 64 MiB / the later ones' median"]
    assert first["median"] == pytest.approx(1.2) and first["bar"] == 1.3 and first["met"]
    assert "bars kept: 5 of 6" in said
    assert commands(fake)[2].endswith("--way core --beside --bytes 67108864 --budget 268435456 --compute 0.2")


def test_bars_of_places(bench, tmp_path, fake):
    found, said = document(bench, tmp_path, "core", "--only", "places", "--quick")
    by_name = {bar["name"]: bar for bar in found["bars"]}
    assert by_name["alloc, 3 clients, 1 MiB: total of core / thread"]["median"] == pytest.approx(1)
    assert by_name["blocks of 1 MiB back to back: time of core / thread"]["bar"] == pytest.approx(1.0526, abs=1e-4)
    assert "bars kept: 7 of 7" in said
    runs = [words for words in commands(fake) if "--verb" in words]
    assert len(runs) == 2 * 7 and "--way thread --verb write --processes 1" in runs[0]


def test_bars_of_computing(bench, tmp_path, fake):
    found, said = document(bench, tmp_path, "core", "--only", "computing", "--quick")
    by_name = {bar["name"]: bar for bar in found["bars"]}
    slowed = by_name["3 clients, C/W 2: the kernel's time beside place core / without output"]
    assert slowed["median"] == pytest.approx(1.02) and not slowed["met"]
    assert slowed["note"].startswith("the median lies in 1.020 … 1.020 (")
    totals = [by_name[f"3 clients, C/W {ratio}: total of {way} / the limit"]["median"]
              for ratio in ("0.5", "2") for way in ("place core", "synchronous output")]
    assert all(total > 0 for total in totals) and totals[0] < totals[1] and totals[2] < totals[3]
    runs = commands(fake)
    assert len(runs) == 1 + 2 * 3 and all("--processes 3 --bytes 1048576 --iterations 3" in words for words in runs)
    assert [words.split("--way ")[1].split()[0] for words in runs] == ["posix"] + 2 * ["memory", "posix", "core"]


def test_handing_over_under_load(bench, tmp_path, fake, fio):
    found, said = document(bench, tmp_path, "core", "--only", "handover", "--quick")
    rows = {bar["name"].split(",")[0]: bar for bar in reversed(found["bars"])}
    # Of 9 outputs the first is left out; two of the others take three times as long.
    assert rows["core: write"]["median"] == pytest.approx(3) and not rows["core: write"]["met"]
    assert rows["HDF5 and fdatasync"]["median"] == pytest.approx(3) and rows["HDF5 and fdatasync"]["bar"] is None
    assert "fio wrote 123 MB/s" in said
    assert not (tmp_path / "out").exists(), "nothing is left"


def test_what_the_host_disturbed_is_done_again(bench, tmp_path, fake, monkeypatch):
    taken = iter([0.0, 100.0] + [100.0] * 100)  # the whole first run, nothing later
    monkeypatch.setattr("tailrace_lab.bench.steal.stolen_seconds", lambda: next(taken))
    found, said = document(bench, tmp_path, "core", "--only", "copy,calls")
    assert [words.split()[0] for words in commands(fake)] == ["copy", "copy", "calls"]
    assert found["steal"]["runs"] == 2 and found["steal"]["repeated"] == 1 and found["steal"]["disturbed"] == 0
    assert "1 of 2 runs were done again" in said


def test_cells_that_the_host_disturbed_are_done_again(bench, tmp_path, fake, monkeypatch, capsys):
    stolen = iter(range(0, 10**6, 1000))  # something of every run
    monkeypatch.setattr("tailrace_lab.bench.steal.stolen_seconds", lambda: float(next(stolen)))
    found, said = document(bench, tmp_path, "jitter", "--ways", "core", "--compress", "off", "--load", "off",
                           "--bytes", "1MiB")
    assert len(commands(fake)) == 6
    assert found["steal"].items() >= {"limit": 0.01, "tries": 6, "runs": 2, "repeated": 2, "disturbed": 2}.items()
    page = tmp_path / "page.html"
    assert cli.main(["report", str(tmp_path / "result.json"), "--out", str(page)]) == 0
    for text in (said, page.read_text()):
        assert "2 of 2 runs were done again" in text and "2 of them had no undisturbed try" in text


def test_without_fio_it_is_said(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found, said = document(bench, tmp_path, "core", "--only", "handover")
    assert found["bars"] == [] and found["missing"][0]["part"] == "handover"
    assert "not measured: fio is not installed" in said


def test_fio_that_fails_is_an_error(tmp_path, fio):
    with pytest.raises(program.Failed, match="exit code 1: fio: no such engine"):
        with load.Load(tmp_path / "fail", 1 << 20):
            pass
    assert not (tmp_path / "fail").exists()


def test_bars_of_filters(bench, tmp_path, fake):
    found, said = document(bench, tmp_path, "core", "--only", "filters", "--quick")
    ratios = [bar for bar in found["bars"] if bar["bar"]]
    assert len(ratios) == 4 and all(bar["median"] == pytest.approx(1) and bar["met"] for bar in ratios)
    for words in ("files 4.00 × smaller; of 8 chunks 1 relaxed, 1 left out", "computing 1.00 ×, handing over",
                  "C 2 ms in these runs, W 2 ms synchronously: C/W 1"):
        assert words in said, said
    assert any("--no-adaptive" in words for words in commands(fake))


def test_jitter(bench, tmp_path, fake, fio):
    found, said = document(bench, tmp_path, "jitter", "--bytes", "1MiB,2MiB", "--iterations", "4", "--mpi", "system")
    assert found["tailrace_jitter"] == 1
    cells = {cell["experiment"]: cell for cell in found["cells"]}
    assert len(cells) == 3 * 2 * 2 * 2
    one = cells["core, 2 MiB, zstd, fio"]
    # Of each process's 5 outputs the first does not count; of the others, the last one takes three times as long.
    assert one["least"] == pytest.approx(1e-3) and one["worst"] == pytest.approx(1.3 * 3e-3)
    assert one["phase_mean"] == pytest.approx(1.3e-3 * 6 / 4) and one["chunks_less"] == 8
    assert one["throughput_seen"] == pytest.approx(4 * (2 << 20) / (1.3e-3 * 6 / 4))
    assert len(found["write_times"]) == 24 * 4 * 4
    assert [run.experiment for run in source.read(tmp_path / "result.json").data.runs][0] == "hdf5, 1 MiB"
    for words in ("not measured: collective: neither MPICH nor Open MPI is on PATH",
                  "core, 2 MiB, zstd, fio", "made up: hdf5"):
        assert words in said, said
    assert not (tmp_path / "out").exists(), "nothing is left"


def test_jitter_in_the_report(bench, tmp_path, fake, fio):
    found, _ = document(bench, tmp_path, "jitter", "--bytes", "1MiB", "--mpi", "system")
    page = tmp_path / "report.html"
    assert cli.main(["report", str(tmp_path / "result.json"), "--out", str(page)]) == 0
    text = page.read_text()
    # Both take three times as long every fourth time, hdf5 four times as long as tailrace.
    for words in ("the slowest output of hdf5 took 4.0× to 4.0× as long, over 4 cells", found["command"],
                  "core, 1 MiB", "Not measured: collective: neither MPICH nor Open MPI is on PATH", "fio wrote"):
        assert words in text, words


@pytest.mark.parametrize("change, expected", [
    ({"tailrace_jitter": 2}, "expected 1"), ({"cells": None}, "cells: found None, expected a list"),
    ({"cells": [{}]}, "cells[0].mean: found None, expected a number"),
    ({"steal": {"runs": "all"}}, "steal.limit: found None, expected a number")])
def test_a_broken_study_is_refused(bench, tmp_path, capsys, monkeypatch, change, expected):
    monkeypatch.setenv("PATH", str(tmp_path))
    found, _ = document(bench, tmp_path, "jitter", "--bytes", "1MiB", "--ways", "core")
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(found | change))
    assert cli.main(["report", str(file), "--out", str(tmp_path / "page.html")]) == 1
    assert expected in capsys.readouterr().err


def test_jitter_in_parts(bench, tmp_path, fake, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found, said = document(bench, tmp_path, "jitter", "--ways", "thread,core", "--compress", "off", "--bytes", "1MiB")
    assert [cell["experiment"] for cell in found["cells"]] == ["thread, 1 MiB", "core, 1 MiB"]
    assert [one["what"] for one in found["missing"]] == ["fio"] and "not measured: fio" in said
    assert "--ways thread,core --compress off" in found["command"]
    code, _, complaints = bench("jitter", "--load", "on")
    assert code == 1 and "nothing is left to run" in complaints


def test_what_fails_is_said(bench, fake):
    (fake.parent / "mood").write_text("--way core")
    code, _, complaints = bench("jitter", "--load", "off", "--ways", "hdf5,core")
    assert code == 1 and "it has no luck today" in complaints and "its command was" in complaints


@pytest.mark.parametrize("words, expected", [
    (("core", "--only", "speed"), "found 'speed', expected open, places, computing"),
    (("jitter", "--bytes", "1000B"), "4KiB"),
    (("jitter", "--ways", "mail"), "found 'mail'"), (("jitter", "--compute-time", "0s"), "more than 0"),
    (("core", "--kills", "0"), "expected a number from 1")])
def test_wrong_words(bench, capsys, words, expected):
    with pytest.raises(SystemExit) as ended:
        bench(*words)
    assert ended.value.code == 2 and expected in capsys.readouterr().err


def test_no_program(capsys, tmp_path, monkeypatch):
    assert cli.main(["bench", "core", "--program", str(tmp_path / "none")]) == 1
    assert "run `make build`" in capsys.readouterr().err


def test_a_runtime_directory_is_its_own_and_goes():
    with runtime_directory.RuntimeDirectory() as one, runtime_directory.RuntimeDirectory() as other:
        places = [pathlib.Path(of.environment["TAILRACE_RUNTIME_DIR"]) for of in (one, other)]
        assert places[0] != places[1] and all(place.stat().st_mode & 0o777 == 0o700 for place in places)
        assert one.servers() == []
    assert not any(place.exists() for place in places)


@pytest.mark.skipif(not CORE_BENCH.is_file(), reason="the program core_bench is not built")
def test_the_real_program(tmp_path, capsys):
    """Measures all parts with tiny sizes; the part handover only if there is fio."""
    file = tmp_path / "bars.json"
    assert cli.main(["bench", "core", "--quick", "--program", str(CORE_BENCH), "--dir", str(tmp_path / "out"),
                     "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    by_name = {bar["name"].split(",")[0]: bar for bar in found["bars"]}
    assert by_name["files lost or different"]["met"], by_name["files lost or different"]["note"]
    assert [one["part"] for one in found["missing"]] in ([], ["handover"])
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not CORE_BENCH.is_file(), reason="the program core_bench is not built")
def test_the_real_study(tmp_path, capsys):
    file = tmp_path / "jitter.json"
    assert cli.main(["bench", "jitter", "--quick", "--program", str(CORE_BENCH), "--load", "off", "--dir",
                     str(tmp_path / "out"), "--json", str(file)]) == 0
    cells = {cell["experiment"] for cell in json.loads(file.read_text())["cells"]}
    assert {"hdf5, 1 MiB", "thread, 1 MiB, zstd", "core, 1 MiB"} <= cells
    said = capsys.readouterr().out
    assert ("collective, 1 MiB" in cells) != ("not measured: collective:" in said)
    picture = tmp_path / "tiles.png"
    assert cli.main(["plot", str(file), "--out", str(picture)]) == 0
    assert picture.is_file() and os.path.getsize(picture) > 1000
