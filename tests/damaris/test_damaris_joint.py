"""Collective files that several nodes write together. Here that many ranks of one machine count as one node."""

from __future__ import annotations

import os
import pathlib
import subprocess
import time

import h5py
import numpy as np
import pytest
import replay_runs as runs
import test_damaris
import test_damaris_faults
from tailrace import mpis


def _environment(size: int) -> dict[str, str]:
    return {**os.environ, "TAILRACE_DAMARIS_NODE_SIZE": str(size)}


def _slabs(clients: int, rank: int, steps: int = 3) -> list[str]:
    rows = 12 // clients
    return [f"set size i {clients}", f"move fields/t 0 {rows * rank},0",
            *(line for step in range(steps)
              for line in (f"write fields/t 0 d {5 * rows} {5 * rows * rank + 500 * step}", "end"))]


def _expect(directory: pathlib.Path, steps: int = 3) -> None:
    """Whole files, and nothing beside them."""
    names = sorted(file.name for file in directory.iterdir() if not file.name.endswith(".log"))
    assert names == [f"sim_It{step}.h5" for step in range(steps)]
    for step in range(steps):
        with h5py.File(directory / f"sim_It{step}.h5") as file:
            np.testing.assert_array_equal(file["fields/t"][...], runs.counting((12, 5), 500 * step, "float64"))
            assert file["fields/t"].attrs["tailraceBlocks"].size > 0
            assert "tailraceMissingClients" not in file.attrs


@pytest.mark.parametrize(("nodes", "size", "cores"), [(2, 3, 1), (3, 2, 1), (2, 4, 2), (2, 2, 0), (3, 1, 0)])
def test_nodes_write_one_file(mpi: mpis.Mpi, tmp_path: pathlib.Path, nodes: int, size: int, cores: int) -> None:
    """With and without dedicated cores: one dataset of the whole, from blocks of all nodes."""
    clients = nodes * (size - cores)
    description = runs.xml(test_damaris.FIELD, mode="Collective", cores=cores)
    run = runs.replay(mpi, tmp_path, description, [_slabs(clients, rank) for rank in range(clients)],
                      cores=nodes * cores, environment=_environment(size))
    assert run.start == (runs.OK if cores else runs.NO_SERVER), run.output
    assert run.finalize == runs.OK, run.output
    assert [codes[:-1] for codes in run.codes] == [[0] * 8] * clients, run.output
    _expect(tmp_path / "out")


BRICKS = """\
    <parameter name="n" type="int" value="1"/>
    <layout name="brick" type="int" dimensions="(2*n)+1+2,3+1,4" global="4*n,6,4" ghosts="1:2,0:1,0:0"/>
    <layout name="grid" type="float" dimensions="5" global="5"/>
    <variable name="b" layout="brick" store="store"/>
    <variable name="x" layout="grid" store="store" time-varying="false"/>
    <variable name="odd" layout="grid" store="store"/>
"""


def _bricks(rank: int, steps: int) -> list[str]:
    """A corner of a box of 4n × 6 × 4 with ghosts; the first rank has the grid, the last one has something odd."""
    lines = ["write x 0 f 5 3"] if rank == 0 else []
    for step in range(steps):
        n = 1 + step % 2
        lines += [f"set n i {n}", f"move b 0 {rank // 2 * 2 * n},{rank % 2 * 3},0",
                  f"write b 0 i {(2 * n + 3) * 4 * 4} {1000 * rank + step}"]
        lines += ["write odd 0 f 5 9"] if rank == 3 and step == 1 else []
        lines.append("end")
    return lines


def test_bricks_with_ghosts_of_changing_size(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """The global shape grows and shrinks; variables come from one node, in one iteration; each file has its XDMF."""
    description = runs.xml(BRICKS, mode="Collective").replace("NoIteration", "EveryIteration")
    run = runs.replay(mpi, tmp_path, description, [_bricks(rank, 3) for rank in range(4)], cores=2,
                      environment=_environment(3))
    assert all(code == 0 for codes in run.codes for code in codes), run.output
    assert sorted(file.name for file in (tmp_path / "out").glob("[!.]*")) == sorted(
        ["sim.xmf", *(f"sim_It{step}.{kind}" for step in range(3) for kind in ("h5", "xmf"))])
    for step in range(3):
        n = 1 + step % 2
        expected = np.zeros((4 * n, 6, 4), "int32")
        for rank in range(4):
            block = runs.counting((2 * n + 3, 4, 4), 1000 * rank + step, "int32")[1:2 * n + 1, 0:3]
            expected[rank // 2 * 2 * n:, rank % 2 * 3:][:2 * n, :3] = block
        found = runs.contents(tmp_path / "out" / f"sim_It{step}.h5")
        assert sorted(found) == ["b", *(["odd"] if step == 1 else []), *(["x"] if step == 0 else [])]
        np.testing.assert_array_equal(found["b"], expected)
        assert f"sim_It{step}.h5:/b" in (tmp_path / "out" / f"sim_It{step}.xmf").read_text()


def test_a_store_with_a_frequency(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Iterations between leave nothing; one that nobody writes has no file."""
    description = runs.xml(test_damaris.FIELD, mode="Collective", frequency=' frequency="2"')
    calls = [[*_slabs(2, rank, 5), "end", "end"] for rank in range(2)]
    run = runs.replay(mpi, tmp_path, description, calls, cores=2, environment=_environment(2))
    assert all(code == 0 for codes in run.codes for code in codes), run.output
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [f"sim_It{step}.h5" for step in (0, 2, 4)]


def test_forwarders_write_what_several_nodes_hand_over(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Two nodes of two ranks, and a node that writes for them."""
    description = runs.xml(test_damaris.FIELD, mode="Collective", cores=1, nodes=1)
    run = runs.replay(mpi, tmp_path, description, [_slabs(2, rank) for rank in range(2)], cores=4,
                      environment=_environment(2))
    assert all(code == 0 for codes in run.codes for code in codes), run.output
    _expect(tmp_path / "out")


def test_nodes_that_do_not_agree(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Another global shape on one node: the file never gets its name, and the run says so."""
    calls = [_slabs(2, rank) for rank in range(2)]
    calls[1].insert(0, "set W i 24")
    run = runs.replay(mpi, tmp_path, runs.xml(test_damaris.FIELD, mode="Collective"), calls, cores=2,
                      environment=_environment(2))
    assert any(code == runs.DATASPACE_ERROR for codes in run.codes for code in codes), run.output
    assert "node 1 does not agree with the others" in run.output
    assert "sim_It0.h5.part' is incomplete" in run.output
    assert not list((tmp_path / "out").glob("*.h5"))


def test_a_server_of_one_node_dies(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Another server goes on, and the files are whole."""
    calls = [_slabs(2, rank) for rank in range(2)]
    for lines in calls:
        lines.insert(4, "wait killed")
    (tmp_path / "sim.xml").write_text(runs.xml(test_damaris.FIELD, mode="Collective"))
    for rank, lines in enumerate(calls):
        (tmp_path / f"calls.{rank}").write_text("".join(line + "\n" for line in lines))
    program = runs.PROGRAMS / f"damaris_replay_{mpi.name}"
    (tmp_path / "out").mkdir()
    with subprocess.Popen(mpi.start(4, program, "sim.xml", "."), cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=_environment(2)) as job:
        deadline = time.monotonic() + 600
        while not (tmp_path / "out" / "sim_It0.h5").exists() and job.poll() is None:
            assert time.monotonic() < deadline
        servers = test_damaris_faults.servers(tmp_path)
        for server in servers[:1]:
            os.kill(server, 9)
        (tmp_path / "killed").touch()
        output = job.communicate(timeout=600)[0]
    assert len(servers) == 2, output
    assert job.returncode == 0, output
    assert all(code == "0" for rank in range(2) for code in (tmp_path / f"codes.{rank}").read_text().split()), output
    _expect(tmp_path / "out")
