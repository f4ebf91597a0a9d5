"""Checks a file of mpiio_bench: each word's value follows from its place, as lab/mpiio/data.hpp says.

A word that is 0 was not written. So a file is right if all other words have their values, and are as many as were
written.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

_FACTOR, _MARK, _STEP = 2654435761, 4096, 40503
_WORD = 4  # bytes


def values(numbers: Any, iteration: int) -> Any:
    """Returns the words with these numbers in an iteration's region."""
    moved = np.where(numbers % _MARK == 0, numbers + _STEP * (iteration + 1), numbers)
    return (moved * _FACTOR & 0xFFFFFFFF).astype(np.uint32) | np.uint32(1)


def wrong_words(path: pathlib.Path, region_bytes: int, bytes_: int, iterations: int) -> int:
    """Returns how many words are wrong, missing, or too many. `bytes_` were written in each region."""
    wrong = abs(path.stat().st_size - iterations * region_bytes) // _WORD if region_bytes == bytes_ else 0
    numbers = np.arange(region_bytes // _WORD, dtype=np.uint64)
    for iteration in range(iterations):
        found = np.fromfile(path, np.uint32, numbers.size, offset=iteration * region_bytes)
        written = found != 0
        wrong += int(np.count_nonzero(written & (found != values(numbers[:found.size], iteration))))
        wrong += abs(int(np.count_nonzero(written)) - bytes_ // _WORD)
    return wrong
