"""The requests for each file: their sizes, the sizes of the accesses made of them, and what needed no storage.

Reads the list "files" of statistics (docs/formats/measurements.md) and of `tailrace-core --status`, and checks it.
Prints nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KINDS = ("raw", "others", "iterations")
_NAMES = {"others": "(other raw files)", "iterations": "(files of iterations)"}
_OF_CALLS = ("writes", "bytes_written", "reads", "bytes_read")
_OF_WRITER = ("requests_merged", "bytes_overwritten", "bytes_from_memory", "bytes_sieved")
_MOST = 1e30


class Malformed(ValueError):
    """A fault in a list of files: where, what was found, what was expected."""


@dataclass(frozen=True)
class Sizes:
    """A distribution of sizes, in bytes; `histogram` has a bucket's smallest size, a power of two, and its count."""

    count: int = 0
    bytes: int = 0
    most: int = 0
    histogram: dict[int, int] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Returns the mean; 0 if there was nothing."""
        return self.bytes / self.count if self.count else 0.0


@dataclass(frozen=True)
class File:
    """One raw file, or several together. The last six count what the writer did, for any client."""

    kind: str
    name: str
    writes: int
    bytes_written: int
    reads: int
    bytes_read: int
    requests_merged: int
    bytes_overwritten: int
    bytes_from_memory: int
    bytes_sieved: int  # read in vain
    before: Sizes  # extents of requests
    after: Sizes  # the accesses of storage into which they were merged


def read(document: Any, where: str = "files") -> list[File]:
    """Reads the list from JSON. Raises Malformed."""
    if not isinstance(document, list):
        raise Malformed(f"{where}: found {_found(document)}, expected a list")
    return [_one(one, f"{where}[{number}]") for number, one in enumerate(document)]


def _one(one: Any, where: str) -> File:
    if not isinstance(one, dict):
        raise Malformed(f"{where}: found {_found(one)}, expected an object")
    kind = one.get("kind")
    if kind not in KINDS:
        raise Malformed(f"{where}.kind: found {_found(kind)}, expected one of {', '.join(KINDS)}")
    name = _NAMES.get(kind) or one.get("path")
    if not isinstance(name, str):
        raise Malformed(f"{where}.path: found {_found(name)}, expected a text")
    counts = [_count(one.get(key), f"{where}.{key}") for key in (*_OF_CALLS, *_OF_WRITER)]
    return File(kind, name, *counts, *(_sizes(one.get(key), f"{where}.{key}") for key in ("before", "after")))


def _sizes(document: Any, where: str) -> Sizes:
    if not isinstance(document, dict):
        raise Malformed(f"{where}: found {_found(document)}, expected an object")
    counts = [_count(document.get(key), f"{where}.{key}") for key in ("count", "bytes", "most")]
    pairs = document.get("histogram")
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise Malformed(f"{where}.histogram: found {_found(pairs)}, expected a list of pairs")
    histogram = {_count(least, f"{where}.histogram"): _count(often, f"{where}.histogram") for least, often in pairs}
    return Sizes(*counts, histogram)


def _count(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _MOST:
        raise Malformed(f"{where}: found {_found(value)}, expected a number of 0 or more")
    return int(value)


def _found(value: Any) -> str:
    return "nothing" if value is None else repr(value)[:40]
