"""The ways to write that compare.py sets side by side, and one run of the program in one of them."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence

from tailrace.mpis import Mpi
from tailrace_lab.bench import program
from tailrace_lab.bench.program import Failed

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/release/apps/texture"

# Debian's Open MPI 4.1 cannot open files with this component, as root.
ENVIRONMENT = {"OMPI_MCA_sharedfp": "^sm"}


@dataclasses.dataclass(frozen=True)
class Way:
    """What the program does with its results, and who carries them."""

    output: str  # none, blocking or nonblocking
    place: str = ""  # of tailrace; "": the MPI alone
    sync_each: bool = False  # after each plane; otherwise only at the end
    test_each: bool = False  # calls MPI_Test after each strip

    def __str__(self) -> str:
        if self.output == "none":
            return "no output"
        words = [self.output]
        words += ["synced each time"] if self.sync_each else ["tested"] if self.test_each else []
        return ", ".join([*words, f"tailrace, place {self.place}" if self.place else "the MPI alone"])


NONE = Way("none")
SYNCHRONOUS = Way("blocking")  # hands the data to the kernel, which writes many of them in the background
SYNCED = Way("blocking", sync_each=True)  # as on file systems that cache nothing for a client
PLACES = ("thread", "core")
WAYS = (NONE, SYNCED, SYNCHRONOUS, Way("nonblocking"), Way("nonblocking", test_each=True),
        *(Way(output, place) for place in PLACES for output in ("blocking", "nonblocking")))


@dataclasses.dataclass(frozen=True)
class Run:
    """What one run took; times in seconds."""

    total: float
    compute: float
    output: float  # inside MPI-IO's calls and waits
    bytes: int
    digest: str  # of the file's bytes; "" without a file


def path_of_build(mpi: Mpi, build: pathlib.Path) -> pathlib.Path:
    """Returns where a build puts the program for an MPI."""
    return build / f"texture_{mpi.name}"


def path_of(mpi: Mpi, build: pathlib.Path = BUILD) -> pathlib.Path:
    """Returns the program for an MPI; raises Failed if it is not there."""
    path = path_of_build(mpi, build)
    if not path.is_file():
        raise Failed(f"found no {path}: `make build` makes it, where libfftw3-dev is installed")
    return path


def command(mpi: Mpi, build: pathlib.Path, ranks: int, way: Way, options: Sequence[object],
            budget: str = "") -> list[str]:
    """Returns the command of a run; `options` are the program's, `budget` is tailrace's."""
    more = ["--sync-each"] if way.sync_each else ["--test-each"] if way.test_each else []
    words = mpi.start(ranks, path_of(mpi, build), "--output", way.output, *more, *options)
    if not way.place:
        return words
    run = [sys.executable, "-m", "tailrace.cli", "run", "--mpiio", "--place", way.place]
    return [*run, *(["--budget", budget] if budget else []), "--", *words]


def run(words: Sequence[str], file: pathlib.Path, environment: Mapping[str, str]) -> Run:
    """Makes a run that writes `file`, or none. Raises Failed."""
    answer = program.ask(list(words), "texture_run", {**os.environ, **ENVIRONMENT, **environment})
    seconds = answer["seconds"]
    return Run(seconds["total"], seconds["compute"], seconds["output"], answer["bytes"], digest_of(file))


def digest_of(file: pathlib.Path) -> str:
    """Returns a hash of the file's bytes; "" if there is none."""
    if not file.is_file():
        return ""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "blake2b").hexdigest()
