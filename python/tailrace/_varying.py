"""Attributes of the iterations of a series: those that are the same in all, and those that vary, along time.

For `tailrace.read`. Values are Python's own, as `series.plain` returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Attributes = dict[str, Any]


def constants(each: Sequence[Attributes]) -> Attributes:
    """Returns the attributes that are the same in all iterations."""
    return {name: value for name, value in each[0].items() if not _varies(name, each)}


def along_time(prefix: str, each: Sequence[Attributes]) -> list[tuple[str, tuple[str, ...], Any]]:
    """Returns the name, with `prefix`, the dimensions and the values of each attribute that varies. Lists have a
    second dimension. NaN, or an empty text, stands for a value that an iteration does not have."""
    names = dict.fromkeys(name for attributes in each for name in attributes)
    found = []
    for name in names:
        if not _varies(name, each):
            continue
        values = [attributes.get(name) for attributes in each]
        is_list = any(isinstance(value, list) for value in values)
        array = _table(values)
        found.append((prefix + name, ("time", f"{prefix}{name}_number") if is_list else ("time",),
                      array if is_list else array[:, 0]))
    return found


def _varies(name: str, each: Sequence[Attributes]) -> bool:
    # By their texts: NaN equals NaN, and 1 differs from 1.0.
    return len({repr(attributes.get(name)) for attributes in each}) > 1


def _table(values: Sequence[Any]) -> Any:
    """Returns a row for each value, as long as the longest list."""
    rows = [[] if value is None else value if isinstance(value, list) else [value] for value in values]
    width = max(len(row) for row in rows)
    missing: Any = np.nan
    if any(isinstance(one, str) for row in rows for one in row):
        rows, missing = [[str(one) for one in row] for row in rows], ""
    return np.array([row + [missing] * (width - len(row)) for row in rows])
