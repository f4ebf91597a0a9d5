"""Random descriptions and programs: every value of every file, by a plain model. A failing seed is one line:

    DAMARIS_SEED=N .venv/bin/python -m pytest tests/damaris/test_damaris_random.py
"""

from __future__ import annotations

import os
import pathlib

import pytest
import random_programs
import replay_runs as runs
from tailrace import mpis

SEEDS = [int(os.environ["DAMARIS_SEED"])] if "DAMARIS_SEED" in os.environ else list(range(3))


def check(mpi: mpis.Mpi, directory: pathlib.Path, seed: int) -> None:
    """Runs the case of a seed, and compares all files."""
    case = random_programs.make(seed)
    environment = {**os.environ, "TAILRACE_DAMARIS_NODE_SIZE": str(case.node_size)}
    run = runs.replay(mpi, directory, case.xml, case.calls, cores=case.cores, environment=environment)
    assert all(code in case.codes for codes in run.codes for code in codes), (seed, run.output)
    assert [len(codes) for codes in run.codes] == [len(calls) + 1 for calls in case.calls], (seed, run.output)
    random_programs.check_files(case, directory / "out", seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_program(mpi: mpis.Mpi, tmp_path: pathlib.Path, seed: int) -> None:
    """Repeat one by DAMARIS_SEED=<seed>."""
    check(mpi, tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_random_programs_at_length(mpi: mpis.Mpi, tmp_path: pathlib.Path, seed: int) -> None:
    """Many more of them."""
    check(mpi, tmp_path, seed)
