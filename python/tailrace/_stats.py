"""The measurements of one variable in a client. The extension fills them in; nothing here measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _html


class Stats(dict[str, float]):
    """The counters of a client, by name. A notebook shows those that are not 0, with their units."""

    def _repr_html_(self) -> str:
        return _html.counters("client", self)


@dataclass(frozen=True)
class Times:
    """The durations of an operation, in seconds; all 0 if it never happened.

    The percentiles come from a histogram: they may be up to a quarter too high, never too low.
    """

    count: int
    total: float
    mean: float
    p50: float
    p90: float
    p99: float
    most: float

    def _repr_html_(self) -> str:
        return _html.times({"": self})


@dataclass(frozen=True)
class VariableStats:
    """The counters of one variable: ``tailrace_variable_stats`` of the C interface.

    A block is queued from its hand-over until its first transfer begins, and is being written from there until it is
    written or has failed. ``dataclasses.asdict`` converts it to plain dictionaries.
    """

    blocks_accepted: int
    blocks_written: int
    blocks_failed: int
    blocks_refused: int  #: ``when_full: drop`` had dropped their iteration before they came
    blocks_written_through: int  #: because of ``when_full: sync``
    blocks_merged: int  #: went to storage in one access with others
    blocks_cached: int  #: of 128 KiB or more, and went through the page cache although their file can bypass it
    bytes_accepted: int
    bytes_written: int
    handover: Times  #: time of the caller for a block: in write, in alloc and commit, or in borrow
    waiting: Times  #: time of the caller in wait, while the array was lent, and in read
    queued: Times
    writing: Times
    chunks_filtered: int  #: of variables with ``compress`` or ``precision``, as are all members below
    chunks_relaxed: int  #: of these, compressed with the compressor's fastest level for lack of time
    chunks_skipped: int  #: of these, not compressed for lack of time
    bytes_filtered: int  #: of these chunks, before filtering
    bytes_stored: int  #: of these chunks, in the file
    filtering: Times  #: time for a block: all its chunks together

    def _repr_html_(self) -> str:
        return _html.counters("variable", _of(self, int)) + _html.times(_of(self, Times))


@dataclass(frozen=True)
class Sizes:
    """A distribution of sizes, in bytes."""

    count: int
    bytes: int  #: total
    most: int
    histogram: tuple[tuple[int, int], ...]  #: pairs of a bucket's smallest size, a power of two, and its count

    def _repr_html_(self) -> str:
        return _html.sizes({"": self})


@dataclass(frozen=True)
class FileStats:
    """The counters of one raw file: ``tailrace_file_stats`` of the C interface.

    The last six count what the writer did with the file for all clients, while this client had it open.
    """

    writes: int
    bytes_written: int
    reads: int
    bytes_read: int
    handover: Times  #: time of the caller in writes
    waiting: Times  #: time of the caller in reads, sync and close
    requests_merged: int  #: went to storage in one access with others
    bytes_overwritten: int  #: never written, since a later write of the same client replaced them
    bytes_from_memory: int  #: of reads that pending writes served, not storage
    bytes_sieved: int  #: holes between the bytes that reads wanted, read in vain
    before: Sizes  #: extents of requests that have begun
    after: Sizes  #: the accesses of storage into which they were merged

    def _repr_html_(self) -> str:
        return (_html.counters("file", _of(self, int)) + _html.times(_of(self, Times))
                + _html.sizes(_of(self, Sizes)))


def _of(measured: object, kind: type) -> dict[str, Any]:
    """Returns the members of one kind, by name."""
    return {name: value for name, value in vars(measured).items() if isinstance(value, kind)}


for _class in (Times, VariableStats, Sizes, FileStats):
    _class.__module__ = "tailrace"
