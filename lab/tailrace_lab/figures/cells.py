"""The cells of a table that are more than text: ratios, which `make bench-check` compares, and names that runs share.

Each is the text that the page shows. Pure.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class Better(enum.Enum):
    """Which values of a ratio are the better ones."""

    LESS = "less"
    MORE = "more"
    OTHERS = "others"  # it is another program's, which is measured beside tailrace: none of them


class Ratio(str):
    """A cell with a ratio: its value, and the least and the largest one if the result has them and they differ."""

    value: float
    span: tuple[float, float] | None
    better: Better
    share: bool  # a share of something, shown in percent: it is compared by differences
    per: str  # what the text has to be divided by for the value; "" if the text is the value

    def __new__(cls, text: str, value: float, span: tuple[float, float] | None = None, *,
                better: Better = Better.LESS, share: bool = False, per: str = "") -> Ratio:
        made = super().__new__(cls, text)
        made.value, made.better, made.share, made.per = value, better, share, per
        made.span = span if span and span[0] < span[1] else None
        return made

    def changed(self, **members: Any) -> Ratio:
        """Returns the cell with other members, or another text."""
        return Ratio(**{"text": str(self), **vars(self), **members})


class Name(str):
    """The name of a row or a column, with the name that it has in every run."""

    key: str

    def __new__(cls, text: str, key: str) -> Name:
        made = super().__new__(cls, text)
        made.key = key
        return made


@dataclass(frozen=True)
class Grid:
    """A table, and the text below it."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    after: str = ""


def key(name: str) -> str:
    """Returns the name that a row or a column has in every run."""
    return name.key if isinstance(name, Name) else name


def of_others(cell: str) -> str:
    """Returns a cell of another program, if it is a ratio."""
    return cell.changed(better=Better.OTHERS) if isinstance(cell, Ratio) else cell
