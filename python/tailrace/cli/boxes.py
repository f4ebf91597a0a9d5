"""Boxes: parts of arrays, as tuples of slices. Pure functions, for `tailrace join`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Box = tuple[slice, ...]


def box(offset: Iterable[int], shape: Iterable[int]) -> Box:
    """Returns the box of this shape that begins at `offset`."""
    return tuple(slice(int(start), int(start) + int(extent)) for start, extent in zip(offset, shape))


def size(of: Box) -> int:
    """Returns its number of elements."""
    return math.prod(axis.stop - axis.start for axis in of)


def overlap(one: Box, two: Box) -> bool:
    """Returns True if they have an element in common."""
    return all(max(a.start, b.start) < min(a.stop, b.stop) for a, b in zip(one, two))


def left_of(shape: Sequence[int], taken: Iterable[Box]) -> list[Box]:
    """Returns what is left of an array without the boxes `taken`, which may overlap, as boxes that do not."""
    left = [box([0] * len(shape), shape)] if math.prod(shape) else []
    # In their order in the array, so that only a few boxes are left at any time.
    for cut in sorted(taken, key=lambda one: [(axis.start, axis.stop) for axis in one]):
        left = [piece for one in left for piece in (_without(one, cut) if overlap(one, cut) else [one])]
    return left


def text(of: Box) -> str:
    """Returns the index as Python writes it: [0:2, 3:6]."""
    return "[" + ", ".join(f"{axis.start}:{axis.stop}" for axis in of) + "]"


def _without(one: Box, cut: Box) -> list[Box]:
    """Returns what is left of a box: along each axis, the parts before and behind the cut, within what earlier axes
    share."""
    pieces: list[Box] = []
    shared = list(one)
    for axis, (mine, theirs) in enumerate(zip(one, cut)):
        for start, stop in ((mine.start, theirs.start), (theirs.stop, mine.stop)):
            if start < stop:
                pieces.append((*shared[:axis], slice(start, stop), *shared[axis + 1:]))
        shared[axis] = slice(max(mine.start, theirs.start), min(mine.stop, theirs.stop))
    return pieces
