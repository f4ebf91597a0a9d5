"""The study of `tailrace bench forward --survey`: schedulers of real forwarders under each access pattern.

Runs the study of testbed.py once for each case: reads and writes; one file in turn, one file in ranges, a file for
each process; small and large requests; one process and many. Prints nothing, but reports to an Observer.
"""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import testbed
from .forward import Observer
from .testbed import Settings

VERSION = 1

_PATTERNS = ("strided", "contiguous", "files")


@dataclass(frozen=True)
class Range:
    """The cases."""

    bytes: int = 64 << 20  # of a case, as far as the number of requests allows
    most: int = 64  # requests of a process
    requests: tuple[int, ...] = (32 << 10, 4 << 20)  # bytes
    clients: tuple[int, ...] = (1, 128)
    windows: tuple[int, ...] = (4, 8, 16)  # ms, of twins


# A check that everything works; measures nothing.
QUICK = Range(bytes=64 << 10, most=2, requests=(4 << 10,), clients=(2,), windows=(8,))


def cases(base: Settings, of: Range) -> Iterator[Settings]:
    """Yields the settings of each case; `base` has those that are the same in all."""
    for write, pattern, request, clients in itertools.product((False, True), _PATTERNS, of.requests, of.clients):
        requests = min(max(of.bytes // (clients * request), 1), of.most)
        yield dataclasses.replace(base, write=write, pattern=pattern, request=request, clients=clients,
                                  requests=requests, windows=of.windows)


def study(given: pathlib.Path | None, base: Settings, of: Range, observer: Observer) -> dict[str, Any]:
    """Makes all runs and returns the document: the documents of all cases. Raises Failed."""
    return {"tailrace_survey": VERSION, "cases": [testbed.study(given, case, observer) for case in cases(base, of)]}
