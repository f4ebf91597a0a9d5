"""Finds iterations of a series in which clients are missing, for `tailrace inspect DIR`."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from tailrace import missing, striped

MOST_FILES = 200  # most files of a series that are opened, evenly spread over its iterations


def of(files_of: Mapping[int, pathlib.Path]) -> dict[int, tuple[tuple[int, ...], int]]:
    """Returns who is missing in each iteration that was looked at; see missing.of()."""
    iterations = sorted(files_of)
    step = max(1.0, (len(iterations) - 1) / (MOST_FILES - 1))
    some = {iterations[min(round(at * step), len(iterations) - 1)] for at in range(min(len(iterations), MOST_FILES))}
    return {iteration: _of(files_of[iteration], iteration) for iteration in sorted(some)}


def _of(path: pathlib.Path, iteration: int) -> tuple[tuple[int, ...], int]:
    import h5py  # here, since it imports slowly and other commands do not need it

    try:
        with striped.readable(path) as source, h5py.File(source, "r") as opened:
            group: Any = opened.get(f"data/{iteration}", opened)  # in a file of the format plain, the root
            return missing.of(group.attrs)
    except (OSError, RuntimeError, KeyError, ValueError, striped.Malformed):
        return (), 0  # `tailrace inspect FILE` says why
