"""Programs for Damaris when something fails: each call says so, or the next one; none hangs, and no half file has a
final name."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import time

import numpy as np
import pytest
import replay_runs as runs
from tailrace import mpis

LARGE = """\
    <parameter name="n" type="int" value="100000"/>
    <layout name="l" type="double" dimensions="n" global="2*n"/>
    <variable name="t" layout="l" store="store"/>"""


def test_a_block_larger_than_the_buffer(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """It is refused by its call, and all else is written."""
    lines = ["set n i 1000000", "write t 0 d 1000000 0", "alloc t 0 d 1000000 0", "set n i 10", "write t 0 d 10 3",
             "end"]
    run = runs.replay(mpi, tmp_path, runs.xml(LARGE, buffer=1 << 20), [lines])
    assert run.codes == [[0, runs.ALLOCATION_ERROR, runs.ALLOCATION_ERROR, 0, 0, 0, 0]], run.output
    assert "budget" in run.output
    np.testing.assert_array_equal(runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")["t/P0"],
                                  runs.counting((10,), 3, "float64"))


def test_a_full_buffer(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """More than the buffer holds: calls wait, and nothing is dropped."""
    lines = [line for step in range(40) for line in (f"write t 0 d 100000 {step}", "end")]
    run = runs.replay(mpi, tmp_path, runs.xml(LARGE, buffer=2 << 20), [lines])
    assert run.codes == [[0] * 81], run.output
    for step in range(40):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")["t/P0"]
        assert (found[0], found[-1]) == (step, step + 99999)


def test_a_missing_directory(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """It is made. If that is impossible, damaris_start says so on all clients, and dedicated ranks return."""
    run = runs.replay(mpi, tmp_path, runs.xml(LARGE, path="new/"), [["set n i 4", "write t 0 d 4 0", "end"]])
    assert run.codes == [[0] * 4], run.output
    assert (tmp_path / "new" / "sim_It0_Pr0.h5").exists()
    run = runs.replay(mpi, tmp_path, runs.xml(LARGE, path="sim.xml/new/"), [["end"], ["end"]])
    assert (run.returncode, run.start, run.finalize) == (0, runs.INIT_ERROR, runs.OK), run.output
    assert "sim.xml/new" in run.output


def test_a_wrong_description(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """damaris_initialize says what is wrong, once, with file and line."""
    run = runs.replay(mpi, tmp_path, runs.xml(LARGE.replace('"l" store', '"k" store')), [["end"], ["end"]])
    assert run.start == runs.INIT_ERROR
    assert run.output.count("sim.xml:13: <variable name='t'> layout: found 'k'") == 1, run.output


def test_positions_outside_the_whole(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """A block that does not fit into the whole array is refused; one that does is written."""
    lines = ["set n i 10", "move t 0 11", "write t 0 d 10 0", "move t 0 -1", "move t 0 10", "write t 0 d 10 5", "end"]
    run = runs.replay(mpi, tmp_path, runs.xml(LARGE, mode="Collective"), [lines])
    wrong = runs.INVALID_DIMENSIONS
    assert run.codes == [[0, 0, wrong, wrong, 0, 0, 0, 0]], run.output
    np.testing.assert_array_equal(runs.contents(tmp_path / "out" / "sim_It0.h5")["t"][10:],
                                  runs.counting((10,), 5, "float64"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a small file system")
def test_a_full_disk(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """The client learns of it, and no file lacks data under its final name. The first file is complete before the
    others begin: files that are written at once share what the disk has, and none may fit."""
    (tmp_path / "out").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tmp_path / "out"], check=True)
    try:
        lines = [line for step in range(6) for line in (f"write t 0 d 100000 {step}", "end")]
        lines.insert(2, "wait out/sim_It0_Pr0.h5")
        run = runs.replay(mpi, tmp_path, runs.xml(LARGE), [lines])
        assert runs.DATASPACE_ERROR in run.codes[0], run.output
        assert "No space left on device" in run.output
        published = sorted((tmp_path / "out").glob("*.h5"))
        assert 1 <= len(published) <= 3
        for file in published:
            step = int(file.name.removeprefix("sim_It").removesuffix("_Pr0.h5"))
            np.testing.assert_array_equal(runs.contents(file)["t/P0"], runs.counting((100000,), step, "float64"))
    finally:
        subprocess.run(["umount", tmp_path / "out"], check=True)


def servers(directory: pathlib.Path) -> list[int]:
    """Returns the processes of the servers that write below the directory."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"tailrace-core") and (process / "cwd").resolve() == directory.resolve():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_server_that_dies(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Another server goes on: all data are written, and the dedicated rank returns."""
    (tmp_path / "out").mkdir()
    (tmp_path / "sim.xml").write_text(runs.xml(LARGE))
    (tmp_path / "calls.0").write_text("write t 0 d 100000 1\nend\nwait killed\nwrite t 0 d 100000 2\nend\n")
    program = runs.PROGRAMS / f"damaris_replay_{mpi.name}"
    with subprocess.Popen(mpi.start(2, program, "sim.xml", "."), cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as job:
        deadline = time.monotonic() + 600
        while not (tmp_path / "out" / "sim_It0_Pr0.h5").exists():
            assert time.monotonic() < deadline and job.poll() is None
        os.kill(servers(tmp_path)[0], 9)
        (tmp_path / "killed").touch()
        output = job.communicate(timeout=600)[0]
    assert job.returncode == 0, output
    assert (tmp_path / "codes.0").read_text().split() == ["0"] * 6, output
    for step in range(2):
        np.testing.assert_array_equal(runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")["t/P0"],
                                      runs.counting((100000,), step + 1, "float64"))


def test_a_client_that_dies(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """The launcher ends the job; what the clients had ended is there, whole."""
    calls = [["write t 0 d 100000 1", "end", "barrier", "barrier", "wait never"],
             ["write t 0 d 100000 2", "end", "barrier", "write t 0 d 100000 3",
              "wait out/sim_It0_Pr0.h5", "die"]]
    run = runs.replay(mpi, tmp_path, runs.xml(LARGE), calls)
    assert run.returncode != 0
    deadline = time.monotonic() + 600
    while servers(tmp_path):
        assert time.monotonic() < deadline, "the server goes on without clients"
    assert sorted(file.name for file in (tmp_path / "out").glob("*.h5")) == ["sim_It0_Pr0.h5"], run.output
    found = runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")
    for rank in range(2):
        np.testing.assert_array_equal(found[f"t/P{rank}"], runs.counting((100000,), rank + 1, "float64"))


TEXTS = """\
    <layout name="names" type="string" dimensions="12"/><layout name="l" type="double" dimensions="4"/>
    <variable name="labels" layout="names"/><variable name="stored" layout="names" store="store"/>
    <variable name="t" layout="l" store="store"/>"""


def test_texts(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Nothing is read of texts that are not stored. Those that were to be stored are refused by their calls alone."""
    lines = ["write labels 0 c 5 65", "write stored 0 c 5 65", "alloc labels 0 c 0 0", "write t 0 d 4 1", "end"]
    run = runs.replay(mpi, tmp_path, runs.xml(TEXTS), [lines])
    refused = runs.ALLOCATION_ERROR
    assert run.codes == [[0, refused, refused, 0, 0, 0]], run.output
    assert "sim.xml:12: <variable name='stored'>: its layout has texts" in run.output
    assert "found a block of 'stored', whose layout 'names' has texts of unknown lengths" in run.output
    assert list(runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")) == ["t/P0"]


SHORT = """\
    <parameter name="size" type="int" value="2"/>
    <layout name="cells" type="int" dimensions="4096/size+1,2" ghosts="0:1,0:0"/>
    <layout name="list" type="double" dimensions="4096/size"/>
    <variable name="a" layout="cells" store="store"/><variable name="b" layout="list" store="store"/>
    <variable name="unstored" layout="list"/>"""


def test_an_array_that_is_shorter_than_its_layout(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """If memory ends before the layout does, the call says how much it expected, and the program goes on. A ghost at
    the end is not read."""
    lines = ["edge a 0 i 4096 1", "edge a 0 i 4094 1", "edge b 0 d 2048 2", "edge b 0 d 10 3",
             "edge unstored 0 d 1 1",
             "end", "set size i 4", "edge b 0 d 1024 4", "end"]
    run = runs.replay(mpi, tmp_path, runs.xml(SHORT), [lines])
    wrong = runs.INVALID_DIMENSIONS
    assert run.codes == [[0, wrong, 0, wrong, 0, 0, 0, 0, 0, 0]], run.output
    assert re.search(r"'a': expected an array of 2049 x 2 elements, 16392 bytes, as the layout 'cells' has with the "
                     r"present parameters; found memory that can be read from 0x\w+ to 0x\w+ only, 16376 bytes",
                     run.output), run.output
    assert "only, 80 bytes" in run.output
    found = runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")
    np.testing.assert_array_equal(found["a/P0"], runs.counting((2048, 2), 1, "int32"))
    np.testing.assert_array_equal(found["b/P0"], runs.counting((2048,), 2, "float64"))
    np.testing.assert_array_equal(runs.contents(tmp_path / "out" / "sim_It1_Pr0.h5")["b/P0"],
                                  runs.counting((1024,), 4, "float64"))
