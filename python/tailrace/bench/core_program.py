"""The C++ program `core_bench`, which place core's bars and the study of jitter are measured with, and its kernel.

Finds it, and puts its documents into words that the measurements use. Knows nothing of bars.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import program
from .program import Program, Report

_PLACE = pathlib.Path("build/release/bench/core/core_bench")


@dataclass(frozen=True)
class CoreProgram:
    """The program, and `pattern`, whose kernel both compute with."""

    path: pathlib.Path
    pattern: Program
    environment: Mapping[str, str]  # beside that of this process

    def copy(self, directory: pathlib.Path, bytes_: int, count: int) -> Report:
        """`write` beside memcpy."""
        return self._ask("copy", directory, "--bytes", bytes_, "--count", count)

    def open(self, directory: pathlib.Path, *arguments: object) -> Report:
        """open, and the first hand-overs after it."""
        return self._ask("open", directory, *arguments)

    def calls(self, directory: pathlib.Path, count: int) -> Report:
        """alloc, commit, signal."""
        return self._ask("calls", directory, "--count", count)

    def run(self, directory: pathlib.Path, *arguments: object) -> Report:
        """Processes that compute and write in turns."""
        return self._ask("run", directory, *arguments)

    def verify(self, directory: pathlib.Path, *arguments: object) -> Report:
        """Compares a run's files."""
        return self._ask("verify", directory, *arguments)

    def command(self, what: str, directory: pathlib.Path, *arguments: object) -> list[str]:
        """The command line."""
        return [str(self.path), what, "--dir", str(directory), *map(str, arguments)]

    def passes(self, seconds: float) -> int:
        """Of the kernel, that take so long."""
        return max(1, round(seconds / self.pattern.calibrate(("--compute", "busy"), min(0.1, seconds))))

    def _ask(self, what: str, directory: pathlib.Path, *arguments: object) -> Report:
        return program.ask(self.command(what, directory, *arguments), f"core_{what}",
                           {**os.environ, **self.environment})


def find(given: pathlib.Path | None, environment: Mapping[str, str]) -> CoreProgram:
    """The program at `given` or where `make build` puts it; raises Failed."""
    path = program.locate("core_bench", _PLACE, given, "--program")
    return CoreProgram(path, program.find(path.parent.parent / "pattern/pattern"), environment)


def seconds(report: Report, warmup: int = 1) -> list[list[float]]:
    """How long each process of a run took for each iteration's output; the first ones are left out."""
    return [[end - begin for begin, end in zip(one["begin"], one["end"])][warmup:] for one in report["processes"]]


def flat(times: Sequence[Sequence[float]]) -> list[float]:
    """Of all processes."""
    return [one for process in times for one in process]
