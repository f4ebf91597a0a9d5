"""Busy loops: processes that each want a cpu all the time, with ordinary priority, beside what is measured."""

from __future__ import annotations

import os
import subprocess
import sys
from types import TracebackType

from .program import Failed

# 1: PR_SET_PDEATHSIG, 9: SIGKILL. So no loop outlives this process, however that ends, even if it already has.
_LOOP = """\
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[1]):
    sys.exit()
print(flush=True)
while True:
    pass
"""


class BusyLoops:
    """A context manager: the given number of loops run while it is open."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._loops: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> BusyLoops:
        try:
            for _ in range(self._count):
                self._loops.append(subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _LOOP, str(os.getpid())], stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE))
            for loop in self._loops:
                if loop.stdout is None or loop.stdout.readline() != b"\n":
                    raise Failed("a busy loop has not begun: see its message above")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        ended = [loop.poll() for loop in self._loops]
        self._end()
        if kind is None and any(code is not None for code in ended):
            raise Failed("a busy loop ended while something was measured beside it")

    def processes(self) -> list[int]:
        """Returns the processes."""
        return [loop.pid for loop in self._loops]

    def _end(self) -> None:
        for loop in self._loops:
            loop.kill()
        for loop in self._loops:
            loop.wait()
            if loop.stdout is not None:
                loop.stdout.close()
        self._loops.clear()
