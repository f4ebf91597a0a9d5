"""The patterns of `tailrace bench mpiio`, as lab/mpiio makes them, and how a run's times are read. Pure.

Those of COMPUTING are others with a program that computes after each write, for as long as the write takes by itself;
it also reads everything back, and computes meanwhile as long as that takes.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from .program import Report

PATTERNS = ("contiguous", "computing", "strided", "tile", "bt", "strided_computing", "tile_computing", "bt_computing",
            "flash", "bricks", "extents")
COMPUTING = {"computing": "contiguous", "strided_computing": "strided", "tile_computing": "tile",
             "bt_computing": "bt"}
TITLES = {"contiguous": "each rank writes one block", "computing": "each rank writes one block, and computes",
          "strided": "pieces of all ranks in turn", "tile": "MPI-Tile-I/O: tiles of a matrix",
          "bt": "BT-I/O: cells on diagonals",
          "strided_computing": "pieces of all ranks in turn, and computing",
          "tile_computing": "MPI-Tile-I/O, and computing", "bt_computing": "BT-I/O, and computing",
          "flash": "Flash-I/O: blocks without guard cells",
          "bricks": "a cube, cut at random into bricks", "extents": "one rank writes small extents"}
# Those in which a rank writes one piece, or is alone.
OF_ONE_PIECE = ("contiguous", "computing", "extents")

BLOCKING, NONBLOCKING = "write_all", "iwrite_all"
_ELEMENT = {"tile": 16, "extents": 16}  # bytes
_COMPUTING_ITERATIONS = 2  # times as many, since the last write is never hidden
_OPENS = {"contiguous": 25}  # small files, to measure what it takes to open and close one
_EXTENTS_ITERATIONS = 2  # most; where each extent is a transfer of its own, they take long


@dataclass(frozen=True)
class Shape:
    """The numbers that all patterns share."""

    bytes: int
    piece: int
    extents: int
    iterations: int


def arguments(name: str, shape: Shape) -> list[str]:
    """Returns the program's options for a pattern."""
    pattern = COMPUTING.get(name, name)
    iterations = shape.iterations
    if name in COMPUTING:
        iterations *= _COMPUTING_ITERATIONS
    if name == "extents":
        iterations = min(_EXTENTS_ITERATIONS, iterations)
    words = ["--pattern", pattern, "--bytes", shape.bytes, "--piece", _ELEMENT.get(pattern, shape.piece), "--extents",
             shape.extents, "--iterations", iterations, "--opens", _OPENS.get(name, 0)]
    return list(map(str, words))


def file_bytes(shape: Shape) -> int:
    """Returns the size of the largest file, roughly."""
    return max(_COMPUTING_ITERATIONS * shape.bytes, 4 * shape.extents * _ELEMENT["extents"]) * shape.iterations


def call(name: str, blocking: bool) -> str:
    """Returns the call that writes a pattern. BT-I/O gives offsets; nor does ROMIO report the file pointer rightly
    with a view of several subarrays."""
    plain = BLOCKING if blocking else NONBLOCKING
    return plain.replace("_all", "_at_all") if COMPUTING.get(name, name) == "bt" else plain


def total(run: Report) -> float:
    """Returns the seconds until everything was on the device."""
    return float(run["seconds_total"])


def rate(run: Report) -> float:
    """Returns bytes a second to the device."""
    return float(run["bytes"] * run["iterations"] / run["seconds_total"])


def waiting(run: Report) -> float:
    """Returns the seconds that a rank spent in the calls that write, in the median iteration. (In the first ones,
    memory is taken.)"""
    return statistics.median(run["seconds_writing"])


def reading(run: Report) -> float:
    """Returns the seconds until everything was read from the device; 0 if nothing was."""
    return float(run["seconds_reading"])


def waiting_by_copy(run: Report) -> float:
    """Returns that as a multiple of one memcpy of the same bytes."""
    return waiting(run) / float(run["seconds_copy"])


def slowed(run: Report) -> float:
    """Returns by how much the computing was slower than alone."""
    return float(run["seconds_computing"] / run["seconds_computing_alone"] - 1)


def hidden(run: Report, synchronous: Report) -> float:
    """Returns the share of the writing that the computing hid; `synchronous` wrote as much, and did not compute."""
    alone = total(synchronous)
    return (alone - (total(run) - float(run["seconds_computing_alone"]))) / alone


def reading_hidden(run: Report, synchronous: Report) -> float:
    """Returns the share of the reading that the computing hid; `synchronous` read as much, and did not compute."""
    alone = reading(synchronous)
    return (alone - (reading(run) - float(run["seconds_computing_reading"]))) / alone


def extent_seconds(run: Report) -> float:
    """Returns the seconds for an extent in the call, beside the copying."""
    return (waiting(run) - float(run["seconds_copy"])) / int(run["pieces"])


def open_close(run: Report) -> float:
    """Returns the seconds to open and close a small file; 0 if that was not measured."""
    return float(run["seconds_open_close"])
