"""Shows the progress of `tailrace bench`: a bar where somebody may be looking, drawn between runs only.

A bar that draws during a run would take the core that the writer needs. Text to print meanwhile goes to the printer,
above the bar. It knows nothing of results.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from tailrace.cli import progress

from ..bench.pattern import Observer
from .bench_table import Printer


class Display(Observer):
    """A context manager; `printer` prints the text."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._bar: progress.Bar | None = None
        self._title = ""
        self._begun = False

    def __enter__(self) -> Display:
        if self._printer.console.is_terminal or self._printer.console.is_jupyter:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

            self._bar = progress.Bar(self._printer.console, TextColumn("{task.description:<52}"),
                                     BarColumn(bar_width=30), MofNCompleteColumn(), TimeElapsedColumn(),
                                     transient=True)
            self._bar.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.__exit__(kind, error, trace)

    def doing(self, title: str) -> None:
        """A step begins that is not one of the runs."""
        self._show(description=f"{self._title}{title}")

    def measured(self, document: dict[str, Any]) -> None:
        """The runs begin."""
        self._printer.begin(document)

    def begin(self, title: str, runs: int) -> None:
        """A C/W begins."""
        self._title = f"{title}: "
        self._begun = False
        self._show(description=title, total=runs, completed=0)

    def run(self, title: str) -> None:
        """A run begins, and the one before it has ended."""
        self._show(description=f"{self._title}{title}", advance=1 if self._begun else 0)
        self._begun = True

    def end(self, point: dict[str, Any], ablation: list[dict[str, Any]]) -> None:
        """A C/W has ended."""
        self._printer.point(point, ablation)

    def left(self, words: str, paths: Sequence[object]) -> None:
        """Files or directories stay after the end."""
        self._printer.left(words, paths)

    def _show(self, **changes: Any) -> None:
        if self._bar:
            self._bar.update(**changes)
