"""What a client has measured of one variable. The extension fills it in; nothing here measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    """How long something took, each time it happened, in seconds; all 0 if it never did.

    The percentiles come from a histogram: they may be a quarter too high, never too low.
    """

    count: int
    total: float
    mean: float
    p50: float
    p90: float
    p99: float
    most: float


@dataclass(frozen=True)
class VariableStats:
    """What a client has done so far with one variable: ``tailrace_variable_stats`` of the C interface.

    A block is queued from its hand-over until its first transfer begins, and writing from there until it is written
    or has failed. ``dataclasses.asdict`` makes plain dictionaries of it.
    """

    blocks_accepted: int
    blocks_written: int
    blocks_failed: int
    blocks_refused: int  #: their iteration was dropped by ``when_full: drop`` before they came
    blocks_written_through: int  #: by ``when_full: sync``
    blocks_merged: int  #: went to storage together with others
    blocks_cached: int  #: of 128 KiB and more, and went through the page cache though their file allows to go past it
    bytes_accepted: int
    bytes_written: int
    handover: Times  #: of the caller, a block: in write, in alloc and commit, or in borrow
    waiting: Times  #: of the caller: in wait, while the array was lent, and in read
    queued: Times
    writing: Times
    chunks_filtered: int  #: of variables with ``compress`` or ``precision``, as all that follows
    chunks_relaxed: int  #: of these, by the compressor's fastest level, for want of time
    chunks_skipped: int  #: of these, not compressed, for want of time
    bytes_filtered: int  #: of these chunks, before
    bytes_stored: int  #: of these chunks, in the file
    filtering: Times  #: of a block: all of its chunks, one after the other


@dataclass(frozen=True)
class Sizes:
    """How long things were, in bytes."""

    count: int
    bytes: int  #: of all together
    most: int
    histogram: tuple[tuple[int, int], ...]  #: pairs of the least size in a bucket, a power of two, and how often


@dataclass(frozen=True)
class FileStats:
    """What has become of requests for one raw file: ``tailrace_file_stats`` of the C interface.

    The last six are of what the writer did with the file while this client had it open, for whichever client.
    """

    writes: int
    bytes_written: int
    reads: int
    bytes_read: int
    handover: Times  #: of the caller, in writes
    waiting: Times  #: of the caller, in reads, sync and close
    requests_merged: int  #: went to storage together with others
    bytes_overwritten: int  #: never written, since a later write of the same client had them
    bytes_from_memory: int  #: of reads, that came from pending writes and not from storage
    bytes_sieved: int  #: read for nothing: holes between bytes that reads wanted
    before: Sizes  #: extents of requests, as far as they have begun
    after: Sizes  #: accesses of storage that they were merged into


for _class in (Times, VariableStats, Sizes, FileStats):
    _class.__module__ = "tailrace"
