"""The settings of `tailrace bench mpiio`, and the command line that repeats it. Pure."""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass

from . import command
from .mpiio_patterns import COMPUTING, PATTERNS
from .mpiio_ways import AGGREGATORS, AUTO, COLLECTIVES, MPIS, PLACES


@dataclass(frozen=True)
class Settings:
    """The runs to make."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    patterns: tuple[str, ...] = PATTERNS
    ranks: int = 0  # 0: as many as there are processors
    computing_ranks: int = 0  # for `computing`; 0: one less than processors, for one must be left to the writer
    bytes: int = 64 << 20  # of an iteration of all ranks
    piece: int = 512  # bytes of strided's pieces
    extents: int = 1_000_000
    iterations: int = 4
    rounds: int = 3
    warmup: int = 1  # rounds that do not count, but whose files are checked
    mpis: tuple[str, ...] = MPIS
    places: tuple[str, ...] = PLACES
    collectives: tuple[str, ...] = COLLECTIVES
    aggregators: tuple[str, ...] = AGGREGATORS
    tests: int = 0  # calls of MPI_Test in a computing
    tuned: bool = True  # also MPICH with and without collective buffering
    words: str = ""  # more for TAILRACE_MPIIO
    preload: pathlib.Path | None = None  # where the libraries to preload are
    verify: bool = False  # check the files of all rounds
    tries: int = 3  # most tries of a run that the host disturbs; there are a thousand runs

    def ranks_of(self, pattern: str) -> int:
        """Returns the number of ranks that write a pattern."""
        processors = len(os.sched_getaffinity(0))
        if pattern == "extents":
            return 1
        if pattern == "computing":
            return self.computing_ranks or max(1, processors - 1)
        ranks = self.ranks or processors
        if COMPUTING.get(pattern, pattern) != "bt":
            return ranks
        root = 1
        while root * root < ranks:
            root += 1
        return root * root


# A check that everything works, with more extents than limits are (lab/limits.md); measures nothing.
TINY = Settings(ranks=2, bytes=1 << 20, extents=70_000, iterations=2, rounds=1, warmup=0, places=("thread",),
                collectives=(AUTO,), tuned=False, verify=True, tries=1)


def line(settings: Settings) -> str:
    """Returns the command line that repeats the study."""
    s, usual = settings, Settings()
    words = ["tailrace bench mpiio", f"--dir {s.directory}", f"--size {command.size(s.bytes)}",
             f"--piece {command.size(s.piece)}", f"--extents {s.extents}", f"--iterations {s.iterations}",
             f"--rounds {s.rounds}"]
    words += [f"--only {','.join(s.patterns)}"] if s.patterns != PATTERNS else []
    for option, value, default in (("--mpi", s.mpis, usual.mpis), ("--place", s.places, usual.places),
                                   ("--collective", s.collectives, usual.collectives),
                                   ("--aggregators", s.aggregators, usual.aggregators)):
        words += [f"{option} {','.join(value)}"] if value != default else []
    words += [f"--ranks {s.ranks}"] if s.ranks else []
    words += [f"--computing-ranks {s.computing_ranks}"] if s.computing_ranks else []
    words += [f"--tests {s.tests}"] if s.tests else []
    words += [f"--words '{s.words}'"] if s.words else []
    return " ".join(words + (["--verify"] if s.verify else []))
