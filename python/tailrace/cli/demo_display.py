"""Shows the progress of the demonstration: a bar where somebody may be looking, otherwise a line for each run.

It draws rarely: drawing would take the second core, which is tailrace's.
"""

from __future__ import annotations

import sys
from types import TracebackType

from . import progress
from .demo_numbers import Report


class Display:
    """A context manager; for each run call `start`, `advance` …, `end`."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._done = 0
        self._title = ""
        self._bar: progress.Bar | None = None

    def __enter__(self) -> Display:
        if progress.is_watched(sys.stdout):
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

            self._bar = progress.Bar(Console(), TextColumn("{task.description:<28}"), BarColumn(bar_width=40),
                                     TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), total=self._runs)
            self._bar.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.__exit__(kind, error, trace)

    def start(self, title: str) -> None:
        """A run begins."""
        self._title = title
        if self._bar:
            self._bar.update(description=title)

    def advance(self, share: float) -> None:
        """The given share of the run is done."""
        if self._bar:
            self._bar.update(soon=True, completed=self._done + share)

    def end(self, report: Report) -> None:
        """The run has ended."""
        self._done += 1
        self.advance(0)
        total, waiting = report["seconds_total"], report["seconds_waiting"]
        self.say(f"{self._title}: {total:.2f} s, {waiting:.2f} s of it waiting for output")

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        if self._bar:
            self._bar.say(line)
        else:
            print(line, flush=True)
