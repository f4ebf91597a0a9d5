"""Hands what a client logs to Python's ``logging``.

The library's threads must not call Python, since a thread that waits for the interpreter's lock while the program
ends would never go on. So they write lines into a file, as they always do, and a thread of Python's own reads it. No
writer waits for that thread.
"""

from __future__ import annotations

import logging
import os
import re
import tempfile
import threading
import weakref
from typing import Any

_PERIOD = 0.1  # seconds between two looks into the file
_LINE = re.compile(r"tailrace (?P<who>.*?) (?P<level>info|warning|error): (?P<text>.*)")
_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class LogReader:
    """Reads a client's log, from ``follow`` until the client is closed or gone, and removes its file."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._process = os.getpid()
        descriptor, self.path = tempfile.mkstemp(prefix="tailrace-", suffix=".log")
        self._file = os.fdopen(descriptor, encoding="utf-8", errors="replace")
        self._rest = ""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, client: Any) -> None:
        """Starts to read."""
        self._thread = threading.Thread(target=self._run, args=(weakref.ref(client),), name="tailrace log",
                                        daemon=True)
        _following[self] = None
        self._thread.start()

    def end(self) -> None:
        """Hands over what is left, and removes the file. Does nothing in a forked child, whose parent reads it."""
        if self._process != os.getpid():
            return
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        else:
            self._finish()

    def _run(self, client: weakref.ref[Any]) -> None:
        try:
            while not self._stop.wait(_PERIOD):
                self._read()
                followed = client()
                if followed is None or followed.closed:
                    break
                del followed
        finally:
            self._finish()

    def _finish(self) -> None:
        self._read()
        if self._rest:
            self._put(self._rest)
        self._file.close()
        os.unlink(self.path)
        _following.pop(self, None)

    def _read(self) -> None:
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        for line in lines:
            self._put(line)

    def _put(self, line: str) -> None:
        found = _LINE.fullmatch(line)
        if found is None:
            self._logger.warning("%s", line)
        else:
            self._logger.log(_LEVELS[found["level"]], "%s: %s", found["who"], found["text"])


def reader(given: bool | str | logging.Logger | None) -> LogReader | None:
    """Returns a reader for the logger that ``open`` got: itself, its name, or True for "tailrace.client"."""
    if given is None or given is False:
        return None
    if given is True:
        given = "tailrace.client"
    if isinstance(given, str):
        given = logging.getLogger(given)
    if not isinstance(given, logging.Logger):
        raise TypeError(f"logger: expected True, a name or a logging.Logger, found {type(given).__name__}")
    return LogReader(given)


def end_all() -> None:
    """Ends all readers, before the interpreter ends."""
    for one in list(_following):
        one.end()


_following: dict[LogReader, None] = {}  # those with a thread
