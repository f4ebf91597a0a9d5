"""Shows the progress of the demonstration: a bar on a terminal, otherwise a line for each run.

It draws rarely: drawing would take the second core, which is tailrace's.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from .demo_numbers import Report


class Display:
    """A context manager; for each run call `start`, `advance` …, `end`."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._done = 0
        self._title = ""
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Display:
        if sys.stdout.isatty():
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(TextColumn("{task.description:<28}"), BarColumn(bar_width=40),
                                 TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), refresh_per_second=4)
            self._task = self._bar.add_task("", total=self._runs)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def start(self, title: str) -> None:
        """A run begins."""
        self._title = title
        if self._bar:
            self._bar.update(self._task, description=title)

    def advance(self, share: float) -> None:
        """The given share of the run is done."""
        if self._bar:
            self._bar.update(self._task, completed=self._done + share)

    def end(self, report: Report) -> None:
        """The run has ended."""
        self._done += 1
        self.advance(0)
        total, waiting = report["seconds_total"], report["seconds_waiting"]
        self.say(f"{self._title}: {total:.2f} s, {waiting:.2f} s of it waiting for output")

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        if self._bar:
            self._bar.console.print(line, highlight=False)
        else:
            print(line, flush=True)
