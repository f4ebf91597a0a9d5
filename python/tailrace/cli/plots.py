"""matplotlib, which draws pictures, and which not every installation has: the extra `plots` brings it."""

from __future__ import annotations

import importlib.util

MISSING = "pictures need matplotlib, which is not installed: run `pip install 'tailrace[plots]'`"


def require() -> None:
    """Raises ModuleNotFoundError without matplotlib: before what takes long, and ends with a picture."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ModuleNotFoundError(MISSING, name="matplotlib")


def is_missing(error: ModuleNotFoundError) -> bool:
    """Returns whether matplotlib is what is missing."""
    return (error.name or "").partition(".")[0] == "matplotlib"
