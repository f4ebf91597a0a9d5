"""`tailrace bench mpiio`: the command, on fake programs that answer at once, and on the real ones if they are built
(tiny sizes: nothing here tests speed)."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from tailrace import cli, mpis
from tailrace_lab.bench import mpiio_bars, mpiio_file, mpiio_patterns as patterns, mpiio_settings
from tailrace_lab.bench.mpiio_ways import Way, alone, carried, of_one_piece

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
BUILT = REPOSITORY / "build/release/lab/mpiio"

# Answers as lab/mpiio does: MPICH takes 2 s, Open MPI 4 s, and tailrace 1 s; with computing, one more. Writes a
# right file of one word, logs its arguments beside itself, and fails at what its file `mood` names.
FAKE = '''\
#!{python}
import json, os, pathlib, struct, sys
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
option = lambda name: words[words.index(name) + 1]
ours = os.environ.get("TAILRACE_MPIIO", "")
with open(here / "log", "a") as log:
    log.write(" ".join([pathlib.Path(__file__).name, ours, *words]) + "\\n")
mood = (here / "mood").read_text() if (here / "mood").exists() else ""
if mood and mood in " ".join([ours, *words]):
    sys.exit("mpiio_bench: it has no luck today")
iterations = int(option("--iterations"))
number = 7 if mood == "lies" else 0
pathlib.Path(option("--file")).write_bytes(b"".join(
    struct.pack("<I", (number + 40503 * (i + 1)) * 2654435761 % 2**32 | 1) for i in range(iterations)))
seconds = 1.0 if ours else 2.0 if "mpich" in __file__ else 4.0
computing = 0.125 * iterations if float(option("--compute")) else 0.0
beside = 0.5 * iterations if "--compute-reading" in words else 0.0
reading = beside + (0.05 if ours and beside else seconds)
print(json.dumps({{"mpiio_run": 1, "pattern": option("--pattern"), "call": option("--call"), "library": "made\\tup",
                  "ranks": 2, "iterations": iterations, "bytes": 4, "region_bytes": 4, "pieces": 1,
                  "seconds_copy": 0.001, "seconds_computing_alone": computing, "seconds_computing": computing,
                  "seconds_open_close": seconds / 1000 if int(option("--opens")) else 0,
                  "seconds_opening": 0.1, "seconds_view": 0.2 if mood == "slow" else 0.01,
                  "seconds_writing": [0.002] * iterations, "seconds_finishing": 0.1,
                  "seconds_reading": reading if "--read" in words else 0, "seconds_computing_reading": beside,
                  "seconds_total": seconds if not computing else computing + (0.05 if ours else seconds)}}))
'''


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A folder with both programs, both libraries, and launchers that start the program once."""
    folder = tmp_path / "build"
    folder.mkdir()
    for name in mpis.NAMES:
        path = folder / f"mpiio_bench_{name}"
        path.write_text(FAKE.format(python=sys.executable))
        path.chmod(0o755)
        (folder / f"libtailrace_mpiio_{name}.so").touch()
    launcher = folder / "mpiexec"
    launcher.write_text('#!/bin/sh\nunset LD_PRELOAD\nshift 2\nexec "$@"\n')
    launcher.chmod(0o755)
    found = mpis.Found(tuple(mpis.Mpi(name, "1", "cc", "cxx", str(launcher), ()) for name in mpis.NAMES), ())
    monkeypatch.setattr(mpis, "find", lambda: found)
    return folder


@pytest.fixture
def bench(tmp_path, fake, capsys):
    """Runs the command with the fake programs; returns the document and what was printed."""
    def call(*arguments):
        file = tmp_path / "result.json"
        code = cli.main(["bench", "mpiio", "--program", str(fake / "mpiio_bench_mpich"), "--preload", str(fake),
                         "--dir", str(tmp_path / "out"), "--json", str(file), "--rounds", "1",
                         *map(str, arguments)])
        captured = capsys.readouterr()
        assert (code, captured.err) == (0, "")
        return json.loads(file.read_text()), captured.out

    return call


def test_ways():
    ours = carried(["mpich"], ["thread", "core"], ["auto", "static", "individual"], ["ranks", "node"])
    assert [way.title for way in ours if way.place == "core"] == [
        f"tailrace over MPICH, core, {words}" for words in ("auto", "static, ranks", "static, node", "individual")]
    assert len(ours) == 8 and len(of_one_piece(ours)) == 4
    assert ours[1].hints == ("--hint", "tailrace_collective=static", "--hint", "tailrace_aggregators=ranks")
    assert [way.title for way in alone(["mpich", "openmpi"], True)] == [
        "MPICH", "Open MPI", "MPICH, romio_cb_write=enable", "MPICH, romio_cb_write=disable"]
    assert of_one_piece(ours[1:2]) == ours[1:2], "there are no others"


def a_run(seconds, **more):
    return {"seconds_total": seconds, "seconds_copy": 0.25, "seconds_writing": [9.0, 0.5, 0.25], "iterations": 3,
            "bytes": 1, "seconds_computing": 2.2, "seconds_computing_alone": 2.0, "seconds_view": 0.05,
            "pieces": 1000, "wrong_words": 0, "seconds_reading": seconds / 2, "seconds_computing_reading": 1.0,
            "seconds_open_close": seconds / 100,
            **more}


def test_bars():
    mpich, openmpi = Way("mpich"), Way("openmpi")
    ours, other = Way("mpich", "core", "auto"), Way("mpich", "core", "static")
    runs = {mpich: [a_run(5.0), a_run(4.0)], openmpi: [a_run(2.0), a_run(2.0)], ours: [a_run(2.1), a_run(2.1)],
            other: [a_run(4.0), a_run(4.0)]}
    assert mpiio_bars.better(runs) == openmpi
    found = {bar.name: bar for name in ("contiguous", "bt", "extents") for bar in mpiio_bars.of_pattern(name, runs)}
    beside = {ours: [a_run(2.5)], mpich: [a_run(7.0)]}
    for pattern in ("computing", "tile_computing"):
        found |= {bar.name: bar for bar in mpiio_bars.of_computing(pattern, runs, runs, beside)}
    auto = "tailrace over MPICH, core, auto"
    for name, median, limit, met in (
            (f"contiguous: time / Open MPI, {auto}", 1.05, 1 / 0.94, True),
            (f"contiguous: time to open and close a small file / the MPI alone, {auto}", 2.1 * (1 / 5 + 1 / 4) / 2,
             1.3, True),
            ("bt: time / Open MPI, tailrace over MPICH, core, static", 2.0, None, None),
            (f"bt: time / Open MPI, {auto}", 1.05, 1.1, True),
            (f"bt: time to read / Open MPI, {auto}", 1.05, 1.1, True),
            (f"extents: setting the view, {auto}", 0.05, 0.1, True),
            (f"extents: an extent in the call, beside the copying, {auto}", 250_000, 150, False),
            (f"computing: share of the write that is not hidden, {auto}", 0.5 / 2.1, 0.1, False),
            ("computing: share of the write that is not hidden, MPICH", 1.0, None, None),
            (f"computing: slower by, {auto}", 0.1, 0.03, False),
            (f"computing: waiting in write_all / a memcpy, {auto}", 2.0, 1.3, False),
            (f"computing: share of the read that is not hidden, {auto}", 0.25 / 1.05, 0.1, False),
            (f"tile_computing: slower by, {auto}", 0.1, 0.05, False),
            (f"tile_computing: waiting in write_all / a memcpy, {auto}", 2.0, 2.0, True),
            ("bt: words that are wrong, of each way", 0, 0, True)):
        assert (found[name].median, found[name].bar, found[name].met) == (pytest.approx(median), limit, met), name


def test_cells(bench, fake, tmp_path):
    found, said = bench("--only", "tile,computing", "--place", "core", "--collective", "auto,two_phase")
    assert found["tailrace_mpiio"] == 1 and found["missing"] == []
    tile = {cell["way"]: cell for cell in found["cells"] if cell["pattern"] == "tile"}
    assert len(tile) == 4 + 2 * 3 and tile["Open MPI"]["by_better"] == 2
    assert tile["tailrace over MPICH, core, two_phase, node"]["by_better"] == 0.5
    assert tile["Open MPI"]["reading"] == 4
    computing = [cell for cell in found["cells"] if cell["computes"]]
    assert [cell["call"] for cell in computing] == ["write_all"] * 4 + ["iwrite_all"] * 4
    assert computing[-1]["hidden"] == pytest.approx(0.95) and computing[-1]["slowed"] == 0
    assert computing[-1]["reading_hidden"] == pytest.approx(0.95) and "reading_hidden" not in computing[0]
    for words in ("tile: MPI-Tile-I/O", "for as long as the write takes", "again: tailrace bench mpiio", "kept"):
        assert words in said, said
    assert "missed: computing: waiting in write_all / a memcpy, tailrace over MPICH, core, auto" in said
    log = (fake / "log").read_text()
    assert "mpiio_bench_openmpi place=core --file" in log and "--compute 0.125000000" in log
    assert "--read --compute-reading 0.125000000 --tests 0" in log
    assert "--hint tailrace_collective=two_phase --hint tailrace_aggregators=node --pattern tile" in log
    assert not (tmp_path / "out").exists(), "nothing is left"


def test_the_picture(bench, tmp_path):
    picture = tmp_path / "bars.png"
    bench("--only", "bt,computing", "--collective", "individual", "--plot", picture)
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize("mood, missed", [("lies", "strided: words that are wrong"), ("slow", "")])
def test_wrong_words_are_no_success(bench, fake, mood, missed):
    (fake / "mood").write_text(mood)
    found, said = bench("--only", "strided", "--collective", "individual", "--verify")
    assert (f"missed: {missed}" in said) == bool(missed)
    assert "--verify" in found["command"] and "--collective individual" in found["command"]


def test_a_way_that_fails_is_said(bench, fake):
    (fake / "mood").write_text("place=thread")
    found, said = bench("--only", "bricks", "--collective", "auto")
    assert len(found["missing"]) == 2 and "not measured: bricks, tailrace over MPICH, thread, auto" in said
    assert "it has no luck today" in said


def test_without_libraries_the_mpis_are_measured(bench, fake):
    (fake / "libtailrace_mpiio_mpich.so").unlink()
    found, said = bench("--only", "flash", "--mpi", "mpich")
    assert len(found["cells"]) == 3 and "not measured: tailrace over mpich" in said


def test_without_an_mpi_it_cannot_run(fake, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(mpis, "find", lambda: mpis.Found((), ()))
    assert cli.main(["bench", "mpiio", "--tiny", "--dir", str(tmp_path / "out")]) == 1
    assert "nothing could be run: mpich" in capsys.readouterr().err


@pytest.mark.parametrize("words, expected", [
    (("--only", "columns"), "found 'columns'"), (("--piece", "6"), "expected a multiple of 4"),
    (("--plot", "bars.gif"), "expected a file .png or .svg"), (("--mpi", "lam"), "found 'lam'"),
    (("--ranks", "0"), "expected a number from 1"), (("--size", "1KiB"), "expected a multiple of 1 KiB from")])
def test_wrong_words(capsys, words, expected):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "mpiio", *words])
    assert ended.value.code == 2 and expected in capsys.readouterr().err


def test_the_ranks_of_patterns():
    settings = mpiio_settings.Settings(ranks=5, computing_ranks=3)
    assert [settings.ranks_of(name) for name in ("tile", "bt", "computing", "extents")] == [5, 9, 3, 1]
    assert mpiio_settings.Settings().ranks_of("computing") >= 1


def test_what_is_wrong_in_a_file(tmp_path):
    numbers = np.arange(10_000, dtype=np.uint64)
    words = np.concatenate([mpiio_file.values(numbers, i) for i in range(3)])

    def wrong(words, bytes_=40_000):
        (tmp_path / "file").write_bytes(words.tobytes())
        return mpiio_file.wrong_words(tmp_path / "file", 40_000, bytes_, 3)

    assert wrong(words) == 0 and not np.array_equal(words[:10_000], words[10_000:20_000])
    holes = words.copy()
    holes[5::10] = 0
    assert wrong(holes, 36_000) == 0 and wrong(holes) == 3 * 1000
    moved = words.copy()
    moved[[3, 4]] = moved[[4, 3]]
    assert wrong(moved) == 2
    assert wrong(words[:-7]) == 14, "too short, and not written"
    assert wrong(np.roll(words, 10_000)) == 3 * 3, "iterations are exchanged: three marks in each"


def require_built(mpi):
    if not (BUILT / f"mpiio_bench_{mpi}").is_file():
        pytest.skip(f"the program mpiio_bench_{mpi} is not built")
    return next((one for one in mpis.find().mpis if one.name == mpi), None) or pytest.skip(f"no {mpi} here")


@pytest.mark.parametrize("name", mpis.NAMES)
@pytest.mark.parametrize("pattern, ranks", [("contiguous", 3), ("strided", 3), ("tile", 6), ("bt", 4), ("flash", 2),
                                            ("bricks", 5), ("extents", 2)])
def test_the_real_program_writes_every_byte(tmp_path, name, pattern, ranks):
    """And reads them. By an MPI alone: so its datatypes are those of its pieces."""
    mpi = require_built(name)
    file = tmp_path / "file"
    command = mpi.start(ranks, BUILT / f"mpiio_bench_{name}", "--file", file, "--sync", "--read", "--call",
                        patterns.call(pattern, True), *patterns.arguments(
                            pattern, patterns.Shape(bytes=1 << 19, piece=100, extents=500, iterations=2)))
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False,
                          env={**os.environ, "OMPI_MCA_sharedfp": "^sm"})
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert mpiio_file.wrong_words(file, report["region_bytes"], report["bytes"], 2) == 0
    assert report["ranks"] == ranks and len(report["seconds_writing"]) == 2
    # Each iteration has its slowest rank: the sum may be more than any rank's total.
    assert 0 < max(report["seconds_writing"]) <= report["seconds_total"] and report["seconds_reading"] > 0


@pytest.mark.parametrize("call", ["iwrite_at_all", "write_all_begin", "write"])
def test_the_real_program_computes(tmp_path, call):
    mpi = require_built("mpich")
    file = tmp_path / "file"
    done = subprocess.run(mpi.start(2, BUILT / "mpiio_bench_mpich", "--file", file, "--bytes", 1 << 16, "--call",
                                    call, "--compute", "auto", "--iterations", 3, "--hint",
                                    "romio_cb_write=enable"),
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["hints"] == {"romio_cb_write": "enable"} and report["call"] == call
    assert 0 < report["seconds_computing"] < report["seconds_total"] and report["seconds_computing_alone"] > 0
    assert mpiio_file.wrong_words(file, report["region_bytes"], report["bytes"], 3) == 0
    assert list(tmp_path.iterdir()) == [file]


def test_the_real_program_computes_while_it_reads(tmp_path):
    mpi = require_built("mpich")
    done = subprocess.run(mpi.start(2, BUILT / "mpiio_bench_mpich", "--file", tmp_path / "file", "--pattern",
                                    "strided", "--bytes", 1 << 16, "--call", "iwrite_all", "--compute", 0.01,
                                    "--read", "--compute-reading", 0.01, "--tests", 3),
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert 0 < report["seconds_computing_reading"] and 0 < report["seconds_reading"]


@pytest.mark.parametrize("words, expected", [
    (("--pattern", "bt"), "found 2 ranks, expected a square"), (("--piece", "3"), "4-byte words"),
    (("--compute", "long"), "expected seconds, or auto"), (("--hint", "x"), "expected KEY=VALUE"),
    (("--call", "put"), "found 'put'"), (("--kernel", "none"), "found 'none'")])
def test_the_real_program_refuses(tmp_path, words, expected):
    mpi = require_built("mpich")
    done = subprocess.run(mpi.start(2, BUILT / "mpiio_bench_mpich", "--file", tmp_path / "file", *words),
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode != 0 and done.stderr.count(expected) == 1, done.stderr


def test_the_real_command(tmp_path, capsys):
    """Tiny, with the MPIs and libraries that are here."""
    require_built("mpich")
    file = tmp_path / "mpiio.json"
    assert cli.main(["bench", "mpiio", "--tiny", "--only", "computing,bt", "--program",
                     str(BUILT / "mpiio_bench_mpich"), "--dir", str(tmp_path / "out"), "--json",
                     str(file)]) == 0, capsys.readouterr().err
    found = json.loads(file.read_text())
    assert {cell["pattern"] for cell in found["cells"]} == {"computing", "bt"}
    assert all(cell["wrong_words"] == 0 for cell in found["cells"]), found["cells"]
    assert not [one for one in found["missing"] if "," in one["what"]], "no way fails"
    assert not (tmp_path / "out").exists()
