"""`tailrace bench small`: the command, on a fake program that answers at once, and on the real one if it is built
(tiny sizes: nothing here tests speed). The real one's file is compared with NumPy's."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from tailrace import cli
from tailrace_lab.bench import small_patterns

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
SMALL_BENCH = REPOSITORY / "build/release/lab/small/small_bench"

# Answers as lab/small does: with the compactor on, 1 s; without one part, 4 s; without all, 10; by pwrite, 5. Logs
# its arguments beside itself, and fails at what its file `mood` names.
FAKE = '''\
#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
with open(here / "log", "a") as log:
    log.write(json.dumps(words) + "\\n")
mood = (here / "mood").read_text() if (here / "mood").exists() else ""
if mood and mood in " ".join(words):
    sys.exit("small_bench: it has no luck today")
option = lambda name, default: words[words.index(name) + 1] if name in words else default
merge = option("--merge", "")
seconds = 5.0 if option("--way", "") == "posix" else 1.0 if not merge else 10.0 if "enabled" in merge else 4.0
print(json.dumps({{"small_run": 1, "way": option("--way", ""), "clients": int(option("--clients", 1)), "pieces": 100,
                  "piece_bytes": 4096, "file_bytes": 409600, "handed": seconds / 2, "written": seconds * 0.75,
                  "synced": seconds, "transfers": 100 if merge else 1, "merged": 0,
                  "wrong_bytes": 8 if mood == "lies" else 0, "description": "made up"}}))
'''


@pytest.fixture
def fake(tmp_path):
    path = tmp_path / "build/small/small_bench"
    path.parent.mkdir(parents=True)
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    return path


@pytest.fixture
def bench(tmp_path, fake, capsys):
    """Runs the command with the fake program; returns the document and what was printed."""
    def call(*arguments, mpi="none"):
        file = tmp_path / "result.json"
        code = cli.main(["bench", "small", "--program", str(fake), "--dir", str(tmp_path / "out"), "--json",
                         str(file), "--mpi", mpi, *map(str, arguments)])
        captured = capsys.readouterr()
        assert (code, captured.err) == (0, "")
        return json.loads(file.read_text()), captured.out

    return call


def test_bars():
    def runs(*seconds):
        return [{"synced": one, "transfers": 40, "file_bytes": 128 << 20, "wrong_bytes": 0} for one in seconds]

    every = {way: runs(8, 10, 9) for way in (*small_patterns.MERGE, "pwrite", "mpich, 2 ranks")}
    every |= {small_patterns.ON: runs(2, 2, 1), "mpich, 4 ranks": runs(1, 1, 1),
              small_patterns.NO_MORPHING: runs(4, 4, 4)}
    peers = {"mpich": ["mpich, 2 ranks", "mpich, 4 ranks"]}
    found = {bar.name: bar for name in small_patterns.PATTERNS for bar in small_patterns.bars(name, every, peers)}
    for name, median, limit, met in (
            ("rows: time / compactor off", 0.2, 0.2, True), ("rows: time / mpich, 4 ranks, its best", 2, 1, False),
            ("rows: writes that reach storage for 64 MiB", 20, 32, True),
            ("overlap: time / without morphing", 0.5, 0.6, True), ("behind: time / without stealing", 0.2, 0.3, True),
            ("checkpoint: time / compactor off", 0.2, 0.58, True), ("plot: time / compactor off", 0.2, 0.45, True),
            ("corners: time / compactor off", 0.2, 0.45, True),
            ("tiles: bytes that are wrong, of each way", 0, 0, True)):
        assert (found[name].median, found[name].bar, found[name].met) == (pytest.approx(median), limit, met), name
    assert len(found) == 15


def test_cells(bench, fake, tmp_path):
    found, said = bench("--only", "rows,overlap", "--repeats", "1")
    assert found["tailrace_small"] == 1 and found["missing"] == []
    assert len(found["cells"]) == 2 * 9
    one = next(cell for cell in found["cells"] if cell["way"] == "without joining")
    assert one["merge"] == "largest: 4 KiB" and one["count"] == 1 and one["handed"] == pytest.approx(2)
    for words_ in ("bars kept: 4 of 5", "missed: rows: writes", "without joining (largest: 4 KiB)", "10 s",
                   "again: tailrace bench small"):
        assert words_ in said, said
    commands = [" ".join(json.loads(line)) for line in (fake.parent / "log").read_text().splitlines()]
    assert len(commands) == 2 * 9 * 2, "a round to warm up, and one"
    assert any("--way thread --pattern overlap --clients 1" in words_ for words_ in commands)
    assert any("--way core --pattern rows --clients 64 --bytes 67108864 --piece 4096 --list 1" in words_
               for words_ in commands)
    assert not (tmp_path / "out").exists(), "nothing is left"


def test_the_picture_and_the_report(bench, tmp_path, capsys):
    bench("--only", "tiles", "--repeats", "1")
    result, picture, page = tmp_path / "result.json", tmp_path / "bars.png", tmp_path / "page.html"
    assert cli.main(["plot", str(result), "--out", str(picture)]) == 0 and picture.stat().st_size > 1000
    assert cli.main(["report", str(result), "--out", str(page)]) == 0
    for text in ("tiles: bytes that are wrong, of each way: 0", "without joining 0.40", "pwrite 0.50"):
        assert text in page.read_text()
    document = json.loads(result.read_text())
    for change, expected_ in (({"tailrace_small": 2}, "expected 1"), ({"cells": []}, "expected a list of some"),
                              ({"cells": [{}]}, "cells[0].median: found None"),
                              ({"cells": document["cells"][:1]}, "no 'compactor off' of tiles")):
        capsys.readouterr()
        result.write_text(json.dumps(document | change))
        assert cli.main(["plot", str(result), "--out", str(picture)]) == 1
        assert expected_ in capsys.readouterr().err


def test_wrong_bytes_are_no_success(bench, fake):
    (fake.parent / "mood").write_text("lies")
    found, said = bench("--only", "tiles", "--by-block", "--list", "0", "--repeats", "1", "--ranks", "3,all")
    assert [bar["met"] for bar in found["bars"]] == [False] and "missed: tiles: bytes that are wrong" in said
    assert "--by-block" in found["command"] and "--list 0" in found["command"]
    assert "--ranks 3,all" in found["command"]


def test_without_an_mpi_it_is_said(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found, said = bench("--only", "rows", "--repeats", "1", mpi="system")
    assert found["missing"][0]["what"] == "system" and "not measured, since it is not here: system" in said
    assert not any("ranks" in bar["name"] for bar in found["bars"]), "no bar passes for want of a peer"


def test_what_fails_is_said(fake, tmp_path, capsys):
    (fake.parent / "mood").write_text("--merge")
    assert cli.main(["bench", "small", "--program", str(fake), "--dir", str(tmp_path), "--mpi", "none"]) == 1
    assert "it has no luck today" in capsys.readouterr().err


@pytest.mark.parametrize("words, expected", [
    (("--only", "columns"), "found 'columns'"), (("--clients", "0"), "expected a number from 1"),
    (("--bytes", "512KiB"), "expected a multiple of"), (("--bytes", "1MiB,2MiB"), "expected one size"),
    (("--mpi", "none,mpich"), "expected none alone"), (("--ranks", "2,0"), "expected a number from 1")])
def test_wrong_words(fake, capsys, words, expected):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "small", "--program", str(fake), *words])
    assert ended.value.code == 2 and expected in capsys.readouterr().err


def test_the_patterns_as_the_programs_are_told():
    rows, behind, plot = (small_patterns.pattern(name, 64, 64 << 20, 4096, 1, True) for name in
                          ("rows", "behind", "plot"))
    assert (rows.clients, behind.clients, plot.clients) == (64, 16, 16)
    assert behind.shape[-3:] == (16 << 20, "--piece", 4096) and plot.shape[-1] == "--by-block"


# ---- the real program -------------------------------------------------------------------------------------------


def words(offsets, versions=0):
    """Returns the right 4-byte words for these offsets."""
    with np.errstate(over="ignore"):
        x = (np.asarray(offsets, np.uint64) // np.uint64(4) * np.uint64(0x9e3779b97f4a7c15)
             + np.asarray(versions, np.uint64) * np.uint64(0xbf58476d1ce4e5b9) + np.uint64(1))
        x ^= x >> np.uint64(32)
        x *= np.uint64(0xd6e8feb86659fd93)
        x ^= x >> np.uint64(29)
    return (x >> np.uint64(16)).astype(np.uint32)


def expected(pattern, size):
    """Returns the whole file."""
    offsets = np.arange(0, size, 4)
    if pattern == "overlap":  # pieces of 16 KiB, 4 KiB apart: the last one that has a byte wins
        return words(offsets, np.minimum(offsets // 4096, (size - 16384) // 4096))
    found = words(offsets)
    if pattern in ("plot", "corners"):
        return (found & 0xffffff).astype(np.float32).view(np.uint32)
    return found


SIZES = {"rows": 1 << 18, "overlap": 1 << 18, "behind": 1 << 16, "tiles": 1 << 18,
         "checkpoint": 2 * 24 * 80 * 8**3 * 8, "plot": 2 * 4 * 80 * 8**3 * 4, "corners": 2 * 4 * 80 * 9**3 * 4}


@pytest.mark.skipif(not SMALL_BENCH.is_file(), reason="the program small_bench is not built")
@pytest.mark.parametrize("merge", ["", small_patterns.MERGE[small_patterns.OFF], "delay: 0.005"])
@pytest.mark.parametrize("name, by_block", [(name, False) for name in small_patterns.PATTERNS]
                         + [(name, True) for name in small_patterns.FLASH])
def test_the_real_program_writes_every_byte(tmp_path, monkeypatch, name, by_block, merge):
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(runtime))
    pattern = small_patterns.pattern(name, 8, 1 << 18, 4096, 3, by_block)
    (tmp_path / "out").mkdir()
    command = [SMALL_BENCH, "--dir", tmp_path / "out", "--way", pattern.place, "--merge", merge, *pattern.shape,
               *pattern.more]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["wrong_bytes"] == 0 and report["file_bytes"] == SIZES[name]
    assert 0 < report["handed"] <= report["written"] <= report["synced"]
    found = np.fromfile(tmp_path / "out/small.raw", np.uint32)
    assert np.array_equal(found, expected(name, SIZES[name]))


@pytest.mark.skipif(not SMALL_BENCH.is_file(), reason="the program small_bench is not built")
def test_the_real_command(tmp_path, capsys):
    """Tiny, with the system's MPI if there is one."""
    file = tmp_path / "small.json"
    assert cli.main(["bench", "small", "--quick", "--only", "overlap,corners", "--program", str(SMALL_BENCH),
                     "--dir", str(tmp_path / "out"), "--json", str(file)]) == 0, capsys.readouterr().err
    found = json.loads(file.read_text())
    assert {cell["pattern"] for cell in found["cells"]} == {"overlap", "corners"}
    assert all(cell["wrong_bytes"] == 0 for cell in found["cells"]), found["cells"]
    assert not (tmp_path / "out").exists()
