"""Collective files that several nodes write together. Here so many ranks of one machine count as a node."""

from __future__ import annotations

import os
import pathlib

import h5py
import numpy as np
import pytest
import replay_runs as runs
import test_damaris
from tailrace.bench import mpis


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
