"""The study of `tailrace bench small`: many small requests of many clients to one file (Venkatesan 2013, §5.4).

Each pattern is written with the compactor on, with it off, with each of its parts off, by plain pwrite of the same
requests, collectively by MPI-IO of two MPIs, and at once by one process that has the whole file (the limit). The ways
take turns, round after round, and each file is read and compared. More MPI ranks than processors are slow, so a few
ranks, which share the same pieces, are tried, too. A run that the machine's host disturbed is repeated (steal). What
is not available here is reported with the reason. Prints nothing, but reports to an Observer.
"""

from __future__ import annotations

import pathlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import command, small_patterns, small_program, study_document
from .bars import Bar
from .installs import Environment, Unavailable
from .program import Failed, Report
from .runtime_directory import RuntimeDirectory
from .scratch import Scratch
from .small_patterns import COLLECTIVE, LIMIT, MERGE, PATTERNS, PWRITE, Pattern
from .small_program import Collective, SmallProgram
from .steal import TRIES, Steal

VERSION = 1
ALL = 0  # as many ranks as there are clients


@dataclass(frozen=True)
class Settings:
    """The runs to make."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    patterns: tuple[str, ...] = PATTERNS
    clients: int = 64  # for rows; a quarter of them for the others
    bytes: int = 64 << 20  # of the file; a quarter for `behind`; Flash-I/O has its own size
    piece: int = 4 << 10  # bytes of a matrix's row, or a tile's
    calls: int = 1  # pieces in a call, for rows; 0: all
    by_block: bool = False  # Flash-I/O: each block is a piece
    repeats: int = 3
    mpis: tuple[str, ...] = ("openmpi", "mpich")  # the registry's packages, or "system"; empty: no MPI
    ranks: tuple[int, ...] = (2, 4, ALL)
    keep_environment: pathlib.Path | None = None
    tries: int = TRIES  # most tries of a run that the host disturbs


# A check that everything works; measures nothing.
QUICK = Settings(clients=8, bytes=2 << 20, repeats=1, mpis=("system",), ranks=(1, ALL), tries=1)


class Observer:
    """Receives the progress; this one ignores it."""

    def doing(self, title: str) -> None:
        """A step begins that is not a run."""

    def begin(self, title: str, runs: int) -> None:
        """The given number of runs begins, of one pattern."""

    def run(self, title: str) -> None:
        """One of them begins."""

    def pattern(self, cells: Sequence[dict[str, Any]]) -> None:
        """A pattern has ended."""


def study(given: pathlib.Path | None, settings: Settings, observer: Observer) -> dict[str, Any]:
    """Runs all patterns and returns the document. Raises Failed."""
    with RuntimeDirectory() as runtime, Scratch([settings.directory]) as scratch, \
            Environment(settings.keep_environment, observer.doing) as environment:
        program = small_program.find(given, runtime.environment)
        return _Study(program, settings, observer, scratch, runtime, environment).all()


class _Study:
    def __init__(self, program: SmallProgram, settings: Settings, observer: Observer, scratch: Scratch,
                 runtime: RuntimeDirectory, environment: Environment) -> None:
        self._program = program
        self._settings = settings
        self._observer = observer
        self._scratch = scratch
        self._runtime = runtime
        self._environment = environment
        self._steal = Steal(tries=settings.tries)
        self._missing: dict[str, str] = {}
        self._peers: dict[str, Collective] = {}

    def all(self) -> dict[str, Any]:
        s = self._settings
        self._scratch.require(max(2 * s.bytes, s.clients * (8 << 20)))
        self._find_peers()
        cells: list[dict[str, Any]] = []
        bars: list[Bar] = []
        for name in s.patterns:
            one = small_patterns.pattern(name, s.clients, s.bytes, s.piece, s.calls, s.by_block)
            runs, peers = self._runs(one)
            found = [_cell(one, way, of) for way, of in runs.items()]
            self._observer.pattern(found)
            cells += found
            bars += small_patterns.bars(name, runs, peers)
        return self._document(cells, bars)

    def _find_peers(self) -> None:
        for mpi in self._settings.mpis:
            self._observer.doing(f"looking for an MPI ({mpi})")
            try:
                self._peers[mpi] = self._program.collective(self._environment, mpi)
            except Unavailable as error:
                self._missing[mpi] = str(error)

    def _runs(self, pattern: Pattern) -> tuple[dict[str, list[Report]], dict[str, list[str]]]:
        """Returns all runs by way, and the ways of each MPI that could be run."""
        s = self._settings
        ranks = [count or pattern.clients for count in s.ranks if count <= pattern.clients]
        tried = [(mpi, count) for mpi in self._peers for count in dict.fromkeys(ranks) if pattern.name in COLLECTIVE]
        ways: list[tuple[str, str, int]] = [(way, "", 0) for way in (*MERGE, PWRITE, LIMIT)]
        ways += [(f"{mpi}, {count} ranks", mpi, count) for mpi, count in tried]
        runs: dict[str, list[Report]] = {way: [] for way, _, _ in ways}
        self._observer.begin(small_patterns.TITLES[pattern.name], (s.repeats + 1) * len(ways))
        for number in range(s.repeats + 1):  # the first one warms up
            turn = number % len(ways)
            for way, mpi, count in ways[turn:] + ways[:turn]:
                if way not in runs:
                    continue
                self._observer.run(f"{way}, {f'round {number}' if number else 'warming up'}")
                try:
                    report = self._run(pattern, way, mpi, count)
                except Failed as error:
                    if not mpi:
                        raise
                    self._missing[f"{pattern.name}, {way}"] = str(error)
                    del runs[way]
                    continue
                runs[way] += [report] if number else []
        peers: dict[str, list[str]] = {}
        for way, mpi, _ in ways:
            if mpi and way in runs:
                peers.setdefault(mpi, []).append(way)
        return runs, peers

    def _run(self, pattern: Pattern, way: str, mpi: str, ranks: int) -> Report:
        directory = self._scratch.of("run")[0]

        def once() -> Report:
            if mpi:
                return self._peers[mpi].run(directory, ranks, pattern.shape)
            writer = {PWRITE: "posix", LIMIT: "limit"}.get(way, pattern.place)
            return self._program.run(directory, writer, MERGE.get(way, ""), (*pattern.shape, *pattern.more))

        return self._steal.least_disturbed(once, self._tidy)

    def _tidy(self) -> None:
        self._runtime.wait()
        self._scratch.empty("run")
        self._scratch.settle()

    def _document(self, cells: list[dict[str, Any]], bars: list[Bar]) -> dict[str, Any]:
        s = self._settings
        return study_document.document("tailrace_small", VERSION, line(s), s.directory, self._scratch,
                                       self._missing, cells, bars, self._steal)


def _cell(pattern: Pattern, way: str, runs: Sequence[Report]) -> dict[str, Any]:
    """Returns the summary of a way; times in seconds."""
    first = runs[0]
    times = small_patterns.seconds(runs)
    return {"pattern": pattern.name, "way": way, "merge": MERGE.get(way), "clients": pattern.clients,
            "pieces": first["pieces"], "piece_bytes": first["piece_bytes"], "file_bytes": first["file_bytes"],
            "median": statistics.median(times), "least": min(times), "most": max(times), "count": len(times),
            "handed": statistics.median(run["handed"] for run in runs),
            "written": statistics.median(run["written"] for run in runs),
            "transfers": statistics.median(run["transfers"] for run in runs),
            "wrong_bytes": sum(run["wrong_bytes"] for run in runs), "description": first["description"]}


def line(settings: Settings) -> str:
    """Returns the command line that repeats the study."""
    s = settings
    words = ["tailrace bench small", f"--dir {s.directory}"]
    words += [f"--only {','.join(s.patterns)}"] if s.patterns != PATTERNS else []
    words += [f"--clients {s.clients}", f"--bytes {command.size(s.bytes)}", f"--piece {command.size(s.piece)}",
              f"--repeats {s.repeats}"]
    words += [f"--list {s.calls}"] if s.calls != 1 else []
    words += ["--by-block"] if s.by_block else []
    words += [f"--mpi {','.join(s.mpis) or 'none'}", f"--ranks {','.join(str(count or 'all') for count in s.ranks)}"]
    return " ".join(words)
