"""Lent arrays are read-only until they are given back. Called under the interpreter lock alone."""

from __future__ import annotations

from typing import Any

import numpy as np

# By identity: an array that could be written to before it was lent, and how often it is lent now.
_lent: dict[int, tuple[Any, int]] = {}
# Arrays that were given back, while the array whose memory they show was still lent.
_delayed: list[Any] = []


def lock(array: Any) -> None:
    """Makes an array read-only. Leaves one alone that has no flag, or that was read-only before."""
    if not isinstance(array, np.ndarray):
        return
    if (known := _lent.get(id(array))) is not None:
        _lent[id(array)] = (array, known[1] + 1)
    elif array.flags.writeable:
        array.flags.writeable = False
        _lent[id(array)] = (array, 1)


def unlock(array: Any) -> None:
    """Makes an array writable again when it is lent no more, if ``lock`` made it read-only."""
    if (known := _lent.get(id(array))) is None:
        return
    if known[1] > 1:
        _lent[id(array)] = (array, known[1] - 1)
        return
    del _lent[id(array)]
    _delayed.insert(0, array)  # first: the others may be views of it
    _delayed[:] = [one for one in _delayed if not _writable(one)]


def _writable(array: Any) -> bool:
    """Returns False if the flag cannot be set yet: of a view of an array that is still lent."""
    if id(array) in _lent:
        return True  # lent again: its own end decides
    try:
        array.flags.writeable = True
    except ValueError:
        return not _shows_lent_memory(array)
    return True


def _shows_lent_memory(array: Any) -> bool:
    base = array.base
    while isinstance(base, np.ndarray):
        if id(base) in _lent:
            return True
        base = base.base
    return False
