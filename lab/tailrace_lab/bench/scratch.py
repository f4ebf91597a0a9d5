"""The directories that runs write in. They are created below the user's, checked for room, and removed at the end.

`pattern` empties the directories it is given, so it must never get one that has anything of the user's in it. Several
of the user's directories stand for several devices: a run gets one below each. SIGTERM removes them, too.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from types import FrameType, TracebackType

from .program import Failed

_PREFIX = "tailrace_bench_"
_MARGIN = 1.1


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


class Scratch:
    """A context manager; with `keep` the directories stay."""

    def __init__(self, directories: Sequence[pathlib.Path], keep: bool = False) -> None:
        self._below = list(directories)
        self._keep = keep
        self._made_above: list[pathlib.Path] = []
        self._handles_end = False
        self.directories: list[pathlib.Path] = []

    def __enter__(self) -> Scratch:
        try:
            for directory in self._below:
                self._make(directory)
                self.directories.append(pathlib.Path(tempfile.mkdtemp(prefix=_PREFIX, dir=directory)))
        except OSError as error:
            self._remove()
            raise Failed(f"{error.filename}: {error.strerror}; expected a directory that can be written to "
                         "(see --dir)") from None
        # Only a program's main thread may set handlers, and the user's own stay.
        main = threading.current_thread() is threading.main_thread()
        self._handles_end = main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        if self._handles_end:
            signal.signal(signal.SIGTERM, _end)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if not self._keep:
            self._remove()
        if self._handles_end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def of(self, name: str) -> list[pathlib.Path]:
        """Returns the directories of one writer, which the first call creates."""
        found = [directory / name for directory in self.directories]
        for directory in found:
            directory.mkdir(exist_ok=True)
        return found

    def arguments(self, name: str) -> list[str]:
        """Returns them as the program's arguments."""
        return [argument for directory in self.of(name) for argument in ("--dir", str(directory))]

    def empty(self, name: str) -> None:
        """Removes the contents of one writer's directories."""
        for directory in self.of(name):
            shutil.rmtree(directory)
        self.of(name)

    def require(self, bytes_: float) -> None:
        """Raises Failed unless `bytes_` bytes, divided among the directories, fit."""
        share = int(_MARGIN * bytes_ / len(self.directories))
        needed: dict[int, int] = {}
        for directory in self.directories:
            device = directory.stat().st_dev
            needed[device] = needed.get(device, 0) + share
        for directory, below in zip(self.directories, self._below):
            free = shutil.disk_usage(directory).free
            wanted = needed[directory.stat().st_dev]
            if free < wanted:
                raise Failed(f"not enough room in {below}: found {free / 2**20:.0f} MiB free, expected "
                             f"{wanted / 2**20:.0f} MiB (see --dir, --bytes and --iterations)")

    def settle(self) -> None:
        """Makes file systems do now what they defer, such as freeing space; otherwise the next run would pay for
        it."""
        for directory in self.directories:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _make(self, directory: pathlib.Path) -> None:
        missing = [parent for parent in (directory, *directory.parents) if not parent.exists()]
        self._made_above += missing  # the deepest first, the order of removal
        directory.mkdir(parents=True, exist_ok=True)

    def _remove(self) -> None:
        for directory in self.directories:
            shutil.rmtree(directory, ignore_errors=True)
        for directory in self._made_above:
            try:
                directory.rmdir()
            except OSError:
                pass  # another program has put something there meanwhile
