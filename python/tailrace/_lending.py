"""Lent arrays are read-only until they are given back. Any thread may call."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

# By identity: an array that could be written to before it was lent, and how often it is lent now.
_lent: dict[int, tuple[Any, int]] = {}
# Arrays that were given back, while the array whose memory they show was still lent.
_delayed: list[Any] = []
# Held while these change. Reentrant: the collection of garbage can give arrays back at any point.
_guard = threading.RLock()


def lock(array: Any) -> None:
    """Makes an array read-only. Leaves one alone that has no flag, or that was read-only before."""
    if not isinstance(array, np.ndarray):
        return
    with _guard:
        if (known := _lent.get(id(array))) is not None:
            _lent[id(array)] = (array, known[1] + 1)
        elif array.flags.writeable:
            array.flags.writeable = False
            _lent[id(array)] = (array, 1)


def unlock(array: Any) -> None:
    """Makes an array writable again when it is lent no more, if ``lock`` made it read-only."""
    with _guard:
        if (known := _lent.get(id(array))) is None:
            return
        if known[1] > 1:
            _lent[id(array)] = (array, known[1] - 1)
            return
        del _lent[id(array)]
        _delayed.insert(0, array)  # first: the others may be views of it
        for one in list(_delayed):
            if _writable(one):
                _delayed[:] = [other for other in _delayed if other is not one]


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


def _renew_guard() -> None:
    # In a forked child, a thread that held it is gone.
    global _guard
    _guard = threading.RLock()


os.register_at_fork(after_in_child=_renew_guard)
