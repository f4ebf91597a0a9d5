"""Runs the C++ program `core_bench`, with which place core's bars and the study of jitter are measured, and its
kernel.

It finds the program, and converts its documents to what the measurements use. It knows nothing of bars.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import program
from .program import Program, Report

_PLACE = pathlib.Path("build/release/lab/core/core_bench")


@dataclass(frozen=True)
class CoreProgram:
    """The program, and `pattern`, whose kernel both use."""

    path: pathlib.Path
    pattern: Program
    environment: Mapping[str, str]  # added to that of this process

    def copy(self, directory: pathlib.Path, bytes_: int, count: int) -> Report:
        """Measures `write` beside memcpy."""
        return self._ask("copy", directory, "--bytes", bytes_, "--count", count)

    def open(self, directory: pathlib.Path, *arguments: object) -> Report:
        """Measures open, and the first hand-overs after it."""
        return self._ask("open", directory, *arguments)

    def calls(self, directory: pathlib.Path, count: int) -> Report:
        """Measures alloc, commit and signal."""
        return self._ask("calls", directory, "--count", count)

    def run(self, directory: pathlib.Path, *arguments: object) -> Report:
        """Runs processes that compute and write in turn."""
        return self._ask("run", directory, *arguments)

    def verify(self, directory: pathlib.Path, *arguments: object) -> Report:
        """Compares a run's files."""
        return self._ask("verify", directory, *arguments)

    def command(self, what: str, directory: pathlib.Path, *arguments: object) -> list[str]:
        """Returns the command line."""
        return [str(self.path), what, "--dir", str(directory), *map(str, arguments)]

    def passes(self, seconds: float) -> int:
        """Returns how many passes of the kernel take that long."""
        return max(1, round(seconds / self.pattern.calibrate(("--compute", "busy"), min(0.1, seconds))))

    def _ask(self, what: str, directory: pathlib.Path, *arguments: object) -> Report:
        return program.ask(self.command(what, directory, *arguments), f"core_{what}",
                           {**os.environ, **self.environment})


def find(given: pathlib.Path | None, environment: Mapping[str, str]) -> CoreProgram:
    """Returns the program at `given` or where `make build` puts it; raises Failed."""
    path = program.locate("core_bench", _PLACE, given, "--program")
    return CoreProgram(path, program.find(path.parent.parent / "pattern/pattern"), environment)


def seconds(report: Report, warmup: int = 1) -> list[list[float]]:
    """Returns the time of each process of a run for each iteration's output, without the first `warmup` ones."""
    return [[end - begin for begin, end in zip(one["begin"], one["end"])][warmup:] for one in report["processes"]]


def flat(times: Sequence[Sequence[float]]) -> list[float]:
    """Returns the times of all processes in one list."""
    return [one for process in times for one in process]
