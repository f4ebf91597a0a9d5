"""The programs behind `tailrace bench small`: small_bench, and collective.c compiled by an MPI's mpicc.

It knows their options, and nothing of what is compared.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.mpis import Mpi

from . import program
from .installs import Environment, Unavailable
from .program import Report

_PLACE = pathlib.Path("build/release/lab/small/small_bench")
_SOURCES = ("collective.c", "access_pattern.c", "program_data.c")  # in the repository, four folders above the program
_KIND = "small_run"


@dataclass(frozen=True)
class SmallProgram:
    """The program, ready to be run."""

    path: pathlib.Path
    environment: Mapping[str, str]  # added to that of this process

    def run(self, directory: pathlib.Path, way: str, merge: str, arguments: Sequence[object]) -> Report:
        """Makes one run of a pattern."""
        command = [str(self.path), "--dir", str(directory), "--way", way, *map(str, arguments)]
        command += ["--merge", merge] if merge else []
        return program.ask(command, _KIND, {**os.environ, **self.environment})

    def collective(self, environment: Environment, mpi: str) -> Collective:
        """Returns the same patterns for an MPI; raises Unavailable."""
        sources = self.path.parents[4] / "lab/small"
        if not (sources / _SOURCES[0]).is_file():
            raise Unavailable(f"{_SOURCES[0]} is not at {sources}")
        made = environment.compiled(mpi, [sources / name for name in _SOURCES])
        return Collective(environment.mpi(mpi), made)


@dataclass(frozen=True)
class Collective:
    """MPI_File_write_at_all of one MPI."""

    mpi: Mpi
    path: pathlib.Path

    def run(self, directory: pathlib.Path, ranks: int, arguments: Sequence[object]) -> Report:
        """Makes one run of a pattern, whose clients are divided among the given number of ranks."""
        return program.ask(self.mpi.start(ranks, self.path, "--dir", directory, *arguments), _KIND)


def find(given: pathlib.Path | None, environment: Mapping[str, str]) -> SmallProgram:
    """Returns the program at `given` or where `make build` puts it; raises Failed."""
    return SmallProgram(program.locate("small_bench", _PLACE, given, "--program"), environment)
