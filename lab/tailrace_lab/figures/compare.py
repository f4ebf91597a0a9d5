"""Compares the ratios of two runs, table by table: which became worse or better, and which only one of them has.

Two values are alike if one of them lies within the other's spread, or if they differ by less than repeated runs do.
Pure.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass

from .cells import Better, Grid, Ratio, key

ALIKE = 0.10  # of the stored value: repeated runs differ by so much (docs/benchmarks.md, How it is measured)
ALIKE_WITHOUT_SPREAD = 0.25  # where one of the two has no least and largest value, or not of both of its times
ALIKE_SHARES = 0.10  # shares, whatever spread they have: ten points

_CONTINUES = "… "  # rows that say what they are after one that has its own name


class Verdict(enum.Enum):
    """What became of a ratio."""

    WORSE = "worse"
    BETTER = "better"
    SAME = "the same"
    OTHERS = "changed"  # of another program
    MISSING = "missing"  # it is stored, but was not measured
    NEW = "new"


@dataclass(frozen=True)
class Finding:
    """A ratio, stored and measured."""

    table: str
    row: str
    column: str
    verdict: Verdict
    stored: Ratio | None
    measured: Ratio | None

    def told(self) -> str:
        """Returns the line for people."""
        place = f"{self.table}: {self.row}, {self.column}" if self.column else f"{self.table}: {self.row}"
        if self.stored is None or self.measured is None:
            return f"{place}: {_shown(self.stored or self.measured)}"
        by = worse_by(self.stored, self.measured)
        words = ("more", "less") if self.verdict is Verdict.OTHERS else ("worse", "better")
        amount = f"{abs(100 * by):.3g} {'points' if self.stored.share else '%'}"
        change = f": {words[by < 0]} by {amount}" if math.isfinite(by) else ""
        return f"{place}: was {_shown(self.stored)}, is {_shown(self.measured)}{change}"


def _shown(ratio: Ratio | None) -> str:
    """Returns the cell's text, with a spread that another cell has, and a ratio that the page does not show."""
    if ratio is None:
        return ""
    text = str(ratio).replace("**", "") + (" %" if ratio.share else "")
    if ratio.per:
        text += f", ratio {ratio.value:.3g}"
    elif ratio.span and "…" not in text:
        text += f" ({ratio.span[0]:.3g} … {ratio.span[1]:.3g})"
    return text


def compared(table: str, stored: Grid, measured: Grid) -> Iterator[Finding]:
    """Compares two tables; the rows are those of the stored one, then new ones."""
    before, now = ratios(stored), ratios(measured)
    for place, old in before.items():
        new = now.get(place)
        yield Finding(table, *place, verdict(old, new) if new is not None else Verdict.MISSING, old, new)
    for place, new in now.items():
        if place not in before:
            yield Finding(table, *place, Verdict.NEW, None, new)


def ratios(grid: Grid) -> dict[tuple[str, str], Ratio]:
    """Returns the ratios of a table, by the names of their rows and columns."""
    found: dict[tuple[str, str], Ratio] = {}
    of = ""  # the latest row that has its own name
    for row in grid.rows:
        name = key(row[0])
        if name.startswith(_CONTINUES):
            name = f"{of}, {name}"
        else:
            of = name
        for title, cell in zip(grid.head, row):
            if isinstance(cell, Ratio):
                place = (name, _column(title, cell))
                if place in found:
                    raise ValueError(f"there are two ratios of {', '.join(filter(None, place))!r}")
                found[place] = cell
    return found


def _column(title: str, cell: Ratio) -> str:
    """Returns the column's name; for a time, also by what it is divided, so that the same ratios meet."""
    return f"{key(title)} / {cell.per}" if cell.per else key(title)


def verdict(stored: Ratio, measured: Ratio) -> Verdict:
    """Says what became of a ratio."""
    by = worse_by(stored, measured)
    if abs(by) <= _alike(stored, measured) or _within(stored, measured) or _within(measured, stored):
        return Verdict.SAME
    if stored.better is Better.OTHERS:
        return Verdict.OTHERS
    return Verdict.WORSE if by > 0 else Verdict.BETTER


def _alike(stored: Ratio, measured: Ratio) -> float:
    if stored.share:
        return ALIKE_SHARES
    return ALIKE if stored.span and measured.span and not stored.per else ALIKE_WITHOUT_SPREAD


def _within(one: Ratio, other: Ratio) -> bool:
    """Returns True if a value lies within the spread of the other one."""
    return other.span is not None and other.span[0] <= one.value <= other.span[1]


def worse_by(stored: Ratio, measured: Ratio) -> float:
    """Returns by how much a ratio became worse, by the stored value; for shares, the difference. Negative: better."""
    by = measured.value - stored.value
    if not stored.share and by != 0:
        by = by / abs(stored.value) if stored.value != 0 else math.copysign(math.inf, by)
    return -by if stored.better is Better.MORE else by
