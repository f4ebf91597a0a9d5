"""Shows progress: on a terminal, in the cell of a notebook whose kernel runs the command, and in that of `!tailrace
…`. Elsewhere nothing.

`!` gives a command a terminal, but of all that terminals do, notebooks know carriage returns only: there, lines
without colours are drawn over each other. The content is the caller's.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

_INTERVAL = 0.25  # seconds; drawing takes time on a core that the writer may need
_Item = TypeVar("_Item")


def is_watched(stream: IO[str]) -> bool:
    """Returns True if somebody may be looking: on a terminal, or in a notebook."""
    return stream.isatty() or is_kernel()


class Bar:
    """A context manager: one task, shown by columns of `rich.progress`, on a console that is watched.

    It stays at the end unless it is `transient`. Print meanwhile with `say`, or on the console.
    """

    def __init__(self, console: Console, *columns: Any, total: float | None = None, transient: bool = False) -> None:
        from rich.console import Console as Plain
        from rich.progress import Progress

        self._console, self._transient, self._drawn, self._handle = console, transient, 0.0, None
        self._over = console.is_terminal and _is_child_of_kernel()
        if self._over:
            console = Plain(file=console.file, color_system=None, width=console.width - 1, highlight=False)
        own = console.file is sys.stdout
        self._progress = Progress(*columns, console=console, auto_refresh=False, transient=transient,
                                  redirect_stdout=own, redirect_stderr=own)
        self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Bar:
        if self._console.is_jupyter:
            from IPython.display import display

            self._handle = display(self._progress, display_id=True)
        elif self._over:
            self._console.push_render_hook(self)
        else:
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if not self._transient:
            self._draw()
        if self._handle:
            if self._transient:
                self._handle.update({"text/plain": ""}, raw=True)
        elif self._over:
            self._console.pop_render_hook()
            self._write(self._blank() if self._transient else "\n")
        else:
            self._progress.stop()

    def update(self, *, soon: bool = False, **changes: Any) -> None:
        """Changes the task, as `Progress.update` does, and draws it: at once, or with `soon` four times a second."""
        self._progress.update(self._task, **changes)
        if not soon or time.monotonic() - self._drawn > _INTERVAL:
            self._drawn = time.monotonic()
            self._draw()

    def say(self, line: str) -> None:
        """Prints a line above the bar; in the cell of a kernel, below it."""
        if self._handle:
            print(line)
            return
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        if self._over:
            self._draw()

    def process_renderables(self, renderables: list[Any]) -> list[Any]:
        """Makes room for what the console is about to print: rich calls it."""
        self._write(self._blank())
        return renderables

    def _blank(self) -> str:
        return f"\r{' ' * self._progress.console.width}\r"

    def _draw(self) -> None:
        if self._handle:
            self._handle.update(self._progress)
        elif self._over:
            plain = self._progress.console
            with plain.capture() as captured:
                plain.print(self._progress.get_renderable(), end="")
            self._write("\r" + captured.get().strip("\n").ljust(plain.width))
        else:
            self._progress.refresh()

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()


@contextlib.contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Yields a function that shows what is being done, as one line on standard error, which is removed at the end."""
    if not is_watched(sys.stderr):
        yield lambda title: None
        return
    from rich.console import Console
    from rich.progress import TextColumn

    with Bar(Console(stderr=True), TextColumn("{task.description} …"), transient=True) as bar:
        yield lambda title: bar.update(description=title)


def over(items: Sequence[_Item], title: str) -> Iterator[_Item]:
    """Yields the items, and shows on standard error how many of them are done; removes that at the end."""
    if not items or not is_watched(sys.stderr):
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(Console(stderr=True), *columns, total=len(items), transient=True) as bar:
        for done, item in enumerate(items):
            bar.update(soon=done > 0, description=title, completed=done)
            yield item


def run(command: Sequence[str]) -> int:
    """Runs a program that shows its own progress on a terminal; returns its exit code. A kernel gives it a terminal,
    and shows its output in the cell."""
    if not is_kernel():
        return subprocess.run(command, check=False).returncode
    from IPython.utils.process import system

    return int(system(shlex.join(command)) or 0)


def is_kernel() -> bool:
    """Returns True within the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _is_child_of_kernel() -> bool:
    return "JPY_PARENT_PID" in os.environ or "inline" in os.environ.get("MPLBACKEND", "")
