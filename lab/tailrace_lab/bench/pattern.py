"""The runs of `tailrace bench pattern`, in turn: every writer once in each round, for one C/W after the other.

First it measures W, since C is given as a multiple of it. Then, for each C/W, it finds how much work of the kernel
takes that long, and runs the rounds. The order of the writers changes from round to round, so that other activity on
the machine, and the after-effects of a run, affect all alike (Castellano 2020, §3.1). The first round warms up and is
dropped. Each round also measures W and the copy separately: from these, and C of the runs without output, the models
predict. Prints nothing, but reports to an Observer.
"""

from __future__ import annotations

import contextlib
import datetime
import pathlib
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tailrace

from . import command, evaluate, machine, measure, writers
from .forwarder import Forwarder
from .pattern_settings import Settings
from .program import Failed, Program, Report
from .result import VERSION, Result
from .scratch import Scratch
from .statistics import STATEMENT
from .steal import Steal
from .writers import Writer

# Runs without output that adjust C to the requested value.
_TRIALS = 3


# A check that everything works; measures nothing.
QUICK = Settings(bytes=1 << 20, iterations=3, ratios=(1.0,), repeats=2, calibrate_seconds=0.02, tries=1,
                 measure_count=8, measure_repeats=1)


class Observer:
    """Receives the progress; this one ignores it."""

    def doing(self, title: str) -> None:
        """A step begins that is not one of the runs."""

    def measured(self, document: dict[str, Any]) -> None:
        """The runs begin; the document is the result so far, without points."""

    def begin(self, title: str, runs: int) -> None:
        """A C/W begins, with the given number of runs."""

    def run(self, title: str) -> None:
        """A run begins."""

    def end(self, point: dict[str, Any], ablation: list[dict[str, Any]]) -> None:
        """A C/W has ended; `point` is as in the result, and so is `ablation`, which is empty without one."""

    def left(self, words: str, paths: Sequence[object]) -> None:
        """Files or directories stay after the end: what they are, and where."""


def run(program: Program, settings: Settings, observer: Observer) -> Result:
    """Makes all runs; raises Failed."""
    with Scratch(settings.directories, settings.keep) as scratch, contextlib.ExitStack() as more:
        forwarder = None
        if any(writers.parse(name).forwarded for name in _names(settings)):
            forwarder = more.enter_context(Forwarder(scratch.directories, 4 * settings.bytes + (64 << 20)))
        return _Runs(program, settings, observer, scratch, forwarder).all()


class _Runs:
    def __init__(self, program: Program, settings: Settings, observer: Observer, scratch: Scratch,
                 forwarder: Forwarder | None) -> None:
        self._program = program
        self._forwarder = forwarder
        self._settings = settings
        self._observer = observer
        self._scratch = scratch
        self._steal = Steal(tries=settings.tries)
        self._writers = [writers.parse(name) for name in _names(settings)]

    def all(self) -> Result:
        s = self._settings
        series = s.iterations * s.bytes
        self._scratch.require(series * (len(self._writers) if s.keep else 1))
        document = self._document(self._probe())
        self._observer.doing("measuring W, req and memcpy")
        self._meter = measure.Meter(self._scratch, s.bytes, count=s.measure_count, queue_depth=s.queue_depth,
                                    program=self._program, steal=self._steal, kernel=self._kernel())
        measured = measure.measure_by(self._meter, s.measure_repeats, self._observer.doing)
        document["measured"] = measured.document()
        self._observer.measured(document)
        write = measured.write_regression.slope
        if not write > 0:
            raise Failed(f"W measured by regression is {write:g} s, expected more than 0: try more --bytes")
        self._observer.doing("finding out how long the kernel's passes take")
        each = self._steal.least_disturbed(lambda: self._program.calibrate(self._kernel(), s.calibrate_seconds))
        passes = 1
        for ratio in (s.compute_seconds / write,) if s.compute_seconds is not None else s.ratios:
            passes = self._point(document, measured, ratio, each)
        if s.trace:
            self._trace(s.trace, passes)
            self._observer.left("trace", [s.trace])
        if s.keep:
            self._observer.left("files", self._scratch.directories)
        document["steal"] = self._steal.document()
        return Result(document)

    def _probe(self) -> Report:
        """Makes a short synchronous run, to see whether it works, and which caches it bypasses."""
        self._observer.doing("looking whether the directory can be written to")
        probe = replace(self._settings, iterations=2)
        return self._run(writers.parse("sync"), 1, probe)

    def _document(self, probe: Report) -> dict[str, Any]:
        s = self._settings
        now = datetime.datetime.now(datetime.timezone.utc)
        storage = [{"directory": str(given), "filesystem": machine.filesystem(made),
                    "page_cache": probe["page_cache"]}
                   for given, made in zip(s.directories, self._scratch.directories)]
        settings = {"compute": s.kernel, "threads": s.threads, "memory": s.memory, "iterations": s.iterations,
                    "bytes": s.bytes, "variables": s.variables, "repeats": s.repeats, "warmup": s.warmup,
                    "devices": len(s.directories), "queue_depth": s.queue_depth}
        return {"tailrace_result": VERSION, "kind": "pattern", "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "command": command.line(s), "tailrace": tailrace.__version__, "machine": machine.describe(),
                "storage": storage, "settings": settings, "statistics": STATEMENT, "measured": {}, "points": []}

    def _point(self, document: dict[str, Any], measured: measure.Measured, ratio: float, each: float) -> int:
        s = self._settings
        self._observer.begin(f"C/W = {ratio:.3g}", (s.warmup + s.repeats) * len(self._writers))
        passes = self._calibrate(s.compute_seconds or ratio * measured.write_regression.slope, each)
        runs, errors, slopes = self._rounds(passes)
        least, medians = (evaluate.gather(runs["none"], slopes, measured.request.slope, pick)
                          for pick in (min, statistics.median))
        spread = evaluate.spread(runs["none"], slopes, measured.request.slope)
        point, series = evaluate.point(ratio, least, medians, self._writers, runs, errors, spread)
        if s.ablation:
            document["ablation"] = _ladder(series)
        shown = [writer for writer in self._writers if not s.ablation or writer.name in ("none", "sync")]
        point["series"] = {writer.title: series[writer.name] for writer in shown}
        document["points"].append(point)
        self._observer.end(point, document.get("ablation", []))
        return passes

    def _calibrate(self, asked: float, each: float) -> int:
        """Returns how many passes of the kernel take `asked` seconds; `each` is the time of one pass alone."""
        s = self._settings
        self._observer.doing(f"finding the work that takes {asked:.3g} s")
        found = []
        for _ in range(_TRIALS):
            passes = max(1, round(asked / each))
            report = self._run(writers.parse("none"), passes, s)
            found.append(report["seconds_computing"] / s.iterations / passes)
            each = statistics.median(found)
        return max(1, round(asked / each))

    def _rounds(self, passes: int) -> tuple[dict[str, list[Report]], dict[str, str], list[evaluate.Slopes]]:
        """Returns the runs, the failures, and the measurements of each round before its runs. Storage and memory
        drift during these minutes, so the predictions' inputs are measured in turn with what is predicted."""
        s = self._settings
        slopes: list[evaluate.Slopes] = []
        runs: dict[str, list[Report]] = {writer.name: [] for writer in self._writers}
        errors: dict[str, str] = {}
        for number in range(s.warmup + s.repeats):
            if number >= s.warmup:
                self._observer.doing("measuring W and the copy")
                slopes.append({name: one.slope for name, one in self._meter.once().items()})
            turn = number % len(self._writers)
            for writer in self._writers[turn:] + self._writers[:turn]:
                measuring = number >= s.warmup
                self._observer.run(f"round {number - s.warmup + 1} of {s.repeats}, {writer.title}" if measuring else
                                   f"warm-up, {writer.title}")
                if writer.name in errors:
                    continue
                keep = s.keep and number == s.warmup + s.repeats - 1
                try:
                    report = self._run(writer, passes, s, keep=keep)
                except Failed as error:
                    # Without these two there is no comparison.
                    if writer.name in ("none", "sync"):
                        raise
                    errors[writer.name] = str(error)
                    continue
                if measuring:
                    runs[writer.name].append(report)
        return runs, errors, slopes

    def _trace(self, file: pathlib.Path, passes: int) -> None:
        """Makes one more run, since a traced run is not measured."""
        writer = next((one for one in self._writers if one.is_tailrace), self._writers[-1])
        self._observer.doing(f"tracing {writer.title}")
        self._run(writer, passes, self._settings, "--trace", str(file))

    def _run(self, writer: Writer, passes: int, settings: Settings, *more: str, keep: bool = False) -> Report:
        s = settings
        arguments = [*self._kernel(), "--passes", str(passes), "--iterations", str(s.iterations), "--bytes",
                     str(s.bytes), "--variables", str(s.variables), "--queue-depth", str(s.queue_depth),
                     *self._scratch.arguments(writer.name), *writer.arguments, *more]
        if self._forwarder and writer.forwarded:
            arguments += self._forwarder.arguments()
        if keep:
            self._scratch.empty(writer.name)  # what was kept at an earlier C/W
            arguments.append("--keep")
        return self._steal.least_disturbed(lambda: self._program.run(arguments), self._scratch.settle)

    def _kernel(self) -> list[str]:
        s = self._settings
        return ["--compute", s.kernel, "--threads", str(s.threads), "--memory", s.memory]


def _names(settings: Settings) -> Sequence[str]:
    """Returns the writers of a round. It always includes no output and synchronous, from which the limit and OO are
    computed."""
    asked = [rung.writer for rung in writers.LADDER] if settings.ablation else settings.writers
    return tuple(dict.fromkeys(("none", "sync", *asked)))


def _ladder(series: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    rungs: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for rung in writers.LADDER:
        one = dict(series[rung.writer])
        if rung.writer in seen:
            one["note"] = f"the same runs as {seen[rung.writer]!r}: that is what tailrace does by default"
        seen.setdefault(rung.writer, rung.name)
        rungs.append({"name": rung.name, "series": one})
    return rungs
