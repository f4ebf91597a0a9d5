"""The program behind `tailrace bench mpiio`, once for each MPI, and the library of tailrace to preload.

It knows their options and variables, and nothing of what is compared.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tailrace
from tailrace import mpis, programs
from tailrace.mpis import Mpi

from . import program
from .mpiio_ways import Way
from .program import Report

_FOLDER = pathlib.Path("build/release/lab/mpiio")
_KIND = "mpiio_run"
_PRELOADED = pathlib.Path(tailrace.__file__).parent / "mpiio"
# Debian's Open MPI 4.1.4 cannot open files with this component, as root.
_OPEN_MPI = {"OMPI_MCA_sharedfp": "^sm"}


@dataclass(frozen=True)
class MpiioProgram:
    """The program of one MPI, ready to be run."""

    mpi: Mpi
    path: pathlib.Path
    library: pathlib.Path  # tailrace's; it need not exist
    environment: Mapping[str, str]  # added to that of this process

    def run(self, way: Way, words: str, ranks: int, file: pathlib.Path, arguments: Sequence[str]) -> Report:
        """Makes one run. `words`: more for TAILRACE_MPIIO."""
        command = self.mpi.start(ranks, self.path, "--file", file, "--sync", *way.hints, *arguments)
        added = dict(self.environment) | (_OPEN_MPI if self.mpi.name == "openmpi" else {})
        if way.place:
            added |= programs.preload(self.library, {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")})
            added["TAILRACE_MPIIO"] = f"place={way.place} {words}".strip()
        return program.ask(command, _KIND, {**os.environ, **added})


def find(name: str, given: pathlib.Path | None, preload: pathlib.Path | None,
         environment: Mapping[str, str]) -> MpiioProgram:
    """Returns the program of an MPI, where `make build` puts it, or beside the one that is given. Raises NoMpi,
    Failed."""
    mpi = mpis.find().chosen(name)
    file = f"mpiio_bench_{name}"
    path = program.locate(file, _FOLDER / file, given.with_name(file) if given else None, "--program")
    return MpiioProgram(mpi, path, (preload or _PRELOADED) / f"libtailrace_mpiio_{name}.so", environment)
