"""The study of `tailrace bench pattern --busy`: is a program with tailrace ever slower than one that writes by
itself, on a machine that others keep busy?

The program of the test-bed computes and writes in turn, beside some busy loops: synchronously, and with each verb in
each place. All ways run once in each round, in an order drawn anew: a run finds the memory that the one before it
has just given back, so none must always follow the same one. The first round warms up. The work of an iteration
takes, on the idle machine, as long as writing its output synchronously, or another multiple of that. Prints nothing,
but reports to an Observer.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import random
import statistics
from collections.abc import Sequence
from typing import Any, Protocol

import tailrace
from tailrace import quantity

from . import command, machine
from .bars import Bar, ratios
from .busy_loops import BusyLoops
from .pattern_settings import Settings
from .program import Failed, Program, Report
from .runtime_directory import RuntimeDirectory
from .scratch import Scratch
from .steal import Steal

VERSION = 1  # of the document, which is that of `tailrace bench core`
VERBS = ("alloc", "write", "borrow")
PLACES = ("thread", "core")
_BAR = 1.0
_SYNC = "synchronous"


class Observer(Protocol):
    """Receives the progress."""

    def doing(self, title: str) -> None:
        """A step begins."""

    def part(self, title: str, bars: Sequence[Bar]) -> None:
        """A number of loops has ended."""


def study(program: Program, settings: Settings, loops: Sequence[int], observer: Observer) -> dict[str, Any]:
    """Makes all runs and returns the document; raises Failed."""
    with RuntimeDirectory() as runtime, Scratch(settings.directories) as scratch:
        beside = dataclasses.replace(program, environment={**os.environ, **runtime.environment})
        return _Study(beside, settings, observer, scratch, runtime).all(loops)


class _Study:
    def __init__(self, program: Program, settings: Settings, observer: Observer, scratch: Scratch,
                 runtime: RuntimeDirectory) -> None:
        self._program = program
        self._settings = settings
        self._observer = observer
        self._scratch = scratch
        self._runtime = runtime
        self._steal = Steal(tries=settings.tries)
        self._ways = {_SYNC: ["--write", "sync"]}
        self._ways |= {f"{verb}, place {place}": ["--write", "tailrace", "--verb", verb, "--place", place]
                       for place in PLACES for verb in VERBS}

    def all(self, loops: Sequence[int]) -> dict[str, Any]:
        s = self._settings
        self._scratch.require(s.iterations * s.bytes)
        passes = self._passes()
        bars: list[Bar] = []
        for count in loops:
            with BusyLoops(count):
                found = self._rounds(count, passes)
            bars += found
            self._observer.part("busy", found)
        now = datetime.datetime.now(datetime.timezone.utc)
        storage = [{"directory": str(given), "filesystem": machine.filesystem(made)}
                   for given, made in zip(s.directories, self._scratch.directories)]
        return {"tailrace_bars": VERSION, "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "command": _line(s, loops),
                "tailrace": tailrace.__version__, "machine": machine.describe(), "storage": storage,
                "bars": [bar.document() for bar in bars], "missing": [], "steal": self._steal.document()}

    def _passes(self) -> int:
        """Returns how many passes of the kernel an iteration has."""
        s = self._settings
        self._observer.doing("how long a synchronous write takes")
        alone = [self._run(self._ways[_SYNC], 1) for _ in range(3)]
        write = statistics.median(run["seconds_waiting"] / run["iterations"] for run in alone)
        each = self._steal.least_disturbed(lambda: self._program.calibrate(self._kernel(), s.calibrate_seconds))
        if not write > 0:
            raise Failed(f"a synchronous write takes {write:g} s, expected more than 0: try more --bytes")
        return max(1, round((s.compute_seconds or s.ratios[0] * write) / each))

    def _rounds(self, count: int, passes: int) -> list[Bar]:
        s = self._settings
        beside = said(count)
        found: dict[str, list[float]] = {way: [] for way in self._ways}
        for number in range(s.warmup + s.repeats):
            order = list(self._ways)
            random.Random(number).shuffle(order)
            for way in order:
                turn = f"round {number - s.warmup + 1} of {s.repeats}" if number >= s.warmup else "warm-up"
                self._observer.doing(f"{beside}: {turn}, {way}")
                total = self._run(self._ways[way], passes)["seconds_total"]
                if number >= s.warmup:
                    found[way].append(total)
        bars = [Bar(f"{beside}: {way} / {_SYNC}", "×", ratios(found[way], found[_SYNC]), _BAR)
                for way in self._ways if way != _SYNC]
        return [*bars, Bar(f"{beside}: {_SYNC}", "s", found[_SYNC])]

    def _run(self, way: Sequence[str], passes: int) -> Report:
        s = self._settings
        arguments = [*self._kernel(), "--passes", str(passes), "--iterations", str(s.iterations), "--bytes",
                     str(s.bytes), "--variables", str(s.variables), "--queue-depth", str(s.queue_depth),
                     *self._scratch.arguments("run"), *way]
        return self._steal.least_disturbed(lambda: self._program.run(arguments), self._tidy)

    def _tidy(self) -> None:
        self._runtime.wait()
        self._scratch.empty("run")
        self._scratch.settle()

    def _kernel(self) -> list[str]:
        s = self._settings
        return ["--compute", s.kernel, "--threads", str(s.threads), "--memory", s.memory]


def said(count: int) -> str:
    """Returns the words for a number of loops."""
    return "alone" if count == 0 else quantity.counted(count, "busy loop")


def _line(settings: Settings, loops: Sequence[int]) -> str:
    """Returns the command line that repeats the study."""
    plain = dataclasses.replace(settings, ratios=settings.ratios[:1])
    words = command.line(plain)
    cut = words.index(" --writers ")
    rest = words[cut + len(" --writers "):].split(" ", 1)[1:]
    return " ".join([words[:cut], "--busy", ",".join(map(str, loops)), *rest])
