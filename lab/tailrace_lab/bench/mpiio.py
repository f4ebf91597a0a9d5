"""The study of `tailrace bench mpiio`: MPI-IO by MPICH and Open MPI alone, and carried by tailrace.

The ways take turns, round after round, and each file is checked in the first round. A way that fails is reported, and
so is an MPI that is not here. A run that the machine's host disturbed is repeated (steal). Prints nothing, but
reports to an Observer.
"""

from __future__ import annotations

import contextlib
import pathlib
import statistics
import urllib.parse
from collections.abc import Sequence
from typing import Any

from tailrace import mpis

from . import mpiio_bars, mpiio_file, mpiio_patterns as patterns, mpiio_program, mpiio_ways, study_document
from .bars import Bar
from .mpiio_program import MpiioProgram
from .mpiio_settings import Settings, line
from .mpiio_ways import TUNE, Way
from .program import Failed, Report
from .runtime_directory import RuntimeDirectory
from .scratch import Scratch
from .steal import Steal

VERSION = 1

_TRIALS = 80  # no pattern needs more writes to find the fastest way

_Runs = dict[Way, list[Report]]


class Observer:
    """Receives the progress; this one ignores it."""

    def doing(self, title: str) -> None:
        """A step begins that is not a run."""

    def begin(self, title: str, runs: int) -> None:
        """The given number of turns begins, of one pattern."""

    def run(self, title: str) -> None:
        """One of them begins."""

    def pattern(self, cells: Sequence[dict[str, Any]], bars: Sequence[Bar]) -> None:
        """A pattern has ended."""


def study(given: pathlib.Path | None, settings: Settings, observer: Observer) -> dict[str, Any]:
    """Runs all patterns and returns the document. Raises Failed."""
    with RuntimeDirectory() as runtime, Scratch([settings.directory]) as scratch:
        return _Study(given, settings, observer, scratch, runtime).all()


class _Study:
    def __init__(self, given: pathlib.Path | None, settings: Settings, observer: Observer, scratch: Scratch,
                 runtime: RuntimeDirectory) -> None:
        self._settings = settings
        self._observer = observer
        self._scratch = scratch
        self._runtime = runtime
        self._steal = Steal(tries=settings.tries)
        self._missing: dict[str, str] = {}
        self._shape = patterns.Shape(settings.bytes, settings.piece, settings.extents, settings.iterations)
        self._programs = self._find(given)

    def all(self) -> dict[str, Any]:
        self._scratch.require(2 * patterns.file_bytes(self._shape))
        cells: list[dict[str, Any]] = []
        bars: list[Bar] = []
        for name in self._settings.patterns:
            found, of = self._pattern(name)
            if found:
                self._observer.pattern(found, of)
            cells += found
            bars += of
        if not cells:
            raise Failed("nothing could be run: " + "; ".join(f"{of}: {why}" for of, why in self._missing.items()))
        return self._document(cells, bars)

    def _find(self, given: pathlib.Path | None) -> dict[str, MpiioProgram]:
        found = {}
        for name in self._settings.mpis:
            self._observer.doing(f"looking for an MPI ({name})")
            try:
                found[name] = mpiio_program.find(name, given, self._settings.preload, self._runtime.environment)
            except (mpis.NoMpi, Failed) as error:
                self._missing[name] = str(error)
        return found

    def _ways(self, name: str) -> list[Way]:
        s = self._settings
        few = name in patterns.OF_ONE_PIECE
        carrying = [mpi for mpi, program in self._programs.items() if program.library.is_file()]
        for mpi in self._programs.keys() - set(carrying):
            self._missing[f"tailrace over {mpi}"] = f"{self._programs[mpi].library} is not there"
        ours = mpiio_ways.carried(carrying, s.places, s.collectives, s.aggregators)
        return (mpiio_ways.alone(self._programs, s.tuned and not few)
                + (mpiio_ways.of_one_piece(ours) if few else ours))

    def _pattern(self, name: str) -> tuple[list[dict[str, Any]], list[Bar]]:
        """Returns the cells of a pattern, and its bars."""
        kinds = [patterns.call(name, True)]
        if name in patterns.COMPUTING:
            kinds += ["beside", patterns.call(name, False)]
        runs = self._rounds(name, kinds)
        blocking = runs[kinds[0]]
        if not blocking:
            return [], []
        times = mpiio_bars.by_better(blocking)
        cells = [_cell(name, way, of, times.get(way)) for way, of in blocking.items()]
        for cell, way in zip(cells, blocking, strict=True):
            cell["reading"] = statistics.median(map(patterns.reading, blocking[way]))
        bars = mpiio_bars.of_pattern(name, blocking)
        if name in patterns.COMPUTING:
            for kind in kinds[1:]:
                cells += [_cell(name, way, of, None, blocking[way]) for way, of in runs[kind].items()]
            bars += mpiio_bars.of_computing(name, *(runs[kind] for kind in kinds))
        return cells, bars

    def _rounds(self, name: str, kinds: Sequence[str]) -> dict[str, _Runs]:
        """Returns the runs by kind and way. Those of a kind after the first one compute for as long as the first one
        wrote in the same round."""
        s = self._settings
        ways = self._ways(name)
        runs: dict[str, _Runs] = {kind: {way: [] for way in ways} for kind in kinds}
        wrong: dict[tuple[str, Way], int] = {}
        for way in ways:
            if way.collective == TUNE:
                self._try(name, way, kinds[0])
        self._observer.begin(patterns.TITLES[name], (s.warmup + s.rounds) * len(ways))
        for number in range(s.warmup + s.rounds):
            turn = number % max(1, len(ways))
            for way in ways[turn:] + ways[:turn]:
                if way not in runs[kinds[0]]:
                    continue
                title = f"round {number - s.warmup + 1}" if number >= s.warmup else "warming up"
                self._observer.run(f"{way.title}, {title}")
                try:
                    reports = self._turn(name, way, kinds, s.verify or number == 0)
                except Failed as error:
                    self._missing[f"{name}, {way.title}"] = str(error)
                    for of in runs.values():
                        del of[way]
                    continue
                for kind, report in reports.items():
                    # A round to warm up counts for what is wrong alone.
                    found = report.get("wrong_words", 0) + wrong.pop((kind, way), 0)
                    if number < s.warmup:
                        wrong[kind, way] = found
                    else:
                        runs[kind][way].append(report | {"wrong_words": found})
        return runs

    def _try(self, name: str, way: Way, call: str) -> None:
        """Has a way find out what is fastest; its profile keeps that for the runs that count."""
        self._observer.doing(f"{patterns.TITLES[name]}: {way.title}: trials")
        for _ in range(-(-_TRIALS // self._settings.iterations)):
            with contextlib.suppress(Failed):  # the runs that count will report it
                self._run(name, way, call, 0.0, False, [])
            self._tidy()

    def _turn(self, name: str, way: Way, kinds: Sequence[str], verify: bool) -> dict[str, Report]:
        reports: dict[str, Report] = {}
        for kind in kinds:
            call = kinds[0] if kind == "beside" else kind
            compute = 0.0
            more = ["--read"] if kind != "beside" and name != "extents" else []
            if reports:
                first = reports[kinds[0]]
                compute = patterns.total(first) / int(first["iterations"])
                if more:
                    reading = patterns.reading(first) / int(first["iterations"])
                    more += ["--compute-reading", f"{reading:.9f}", "--tests", str(self._settings.tests)]
            reports[kind] = self._run(name, way, call, compute, verify, more)
        return reports

    def _run(self, name: str, way: Way, call: str, compute: float, verify: bool, more: list[str]) -> Report:
        s = self._settings
        file = self._scratch.of("run")[0] / "mpiio.raw"
        profile = urllib.parse.quote(str((self._scratch.of("tune")[0] / "profile").resolve()), safe="/.,:=@~+")
        words = f"{s.words} profile={profile}" if way.collective == TUNE else s.words
        arguments = [*patterns.arguments(name, self._shape), "--call", call, "--compute", f"{compute:.9f}",
                     *more]

        def once() -> Report:
            report = self._programs[way.mpi].run(way, words, s.ranks_of(name), file, arguments)
            if verify:
                report["wrong_words"] = mpiio_file.wrong_words(file, report["region_bytes"], report["bytes"],
                                                               report["iterations"])
            return report

        return self._steal.least_disturbed(once, self._tidy)

    def _tidy(self) -> None:
        self._runtime.wait()
        self._scratch.empty("run")
        self._scratch.settle()

    def _document(self, cells: list[dict[str, Any]], bars: list[Bar]) -> dict[str, Any]:
        s = self._settings
        return study_document.document("tailrace_mpiio", VERSION, line(s), s.directory, self._scratch,
                                       self._missing, cells, bars, self._steal)


def _cell(name: str, way: Way, runs: Sequence[Report], by_better: Sequence[float] | None,
          synchronous: Sequence[Report] = ()) -> dict[str, Any]:
    """Returns the summary of a way; times in seconds, medians unless they say otherwise. `by_better`: the times by
    those of the better MPI. `synchronous`: the same without computing; empty if these do not compute."""
    first = runs[0]
    times = [patterns.total(run) for run in runs]

    def median(key: str) -> float:
        return statistics.median(run[key] for run in runs)

    cell = {"pattern": name, "way": way.title, "mpi": way.mpi, "place": way.place, "collective": way.collective,
            "aggregators": way.aggregators, "call": first["call"], "computes": bool(synchronous),
            "library": " ".join(first["library"].split()), "ranks": first["ranks"],
            "iterations": first["iterations"], "bytes": first["bytes"], "pieces": first["pieces"],
            "median": statistics.median(times), "least": min(times), "most": max(times), "count": len(times),
            "rate": statistics.median(patterns.rate(run) for run in runs),
            "waiting": statistics.median(patterns.waiting(run) for run in runs),
            "waiting_most": max(max(run["seconds_writing"]) for run in runs), "copy": median("seconds_copy"),
            "view": median("seconds_view"), "finishing": median("seconds_finishing"),
            "by_better": statistics.median(by_better) if by_better else None,
            "wrong_words": sum(run["wrong_words"] for run in runs)}
    if synchronous:
        cell["hidden"] = statistics.median(patterns.hidden(run, of) for run, of in zip(runs, synchronous))
        cell["slowed"] = statistics.median(map(patterns.slowed, runs))
        if all(patterns.reading(run) for run in runs):
            cell["reading_hidden"] = statistics.median(patterns.reading_hidden(run, of)
                                                       for run, of in zip(runs, synchronous))
    return cell
