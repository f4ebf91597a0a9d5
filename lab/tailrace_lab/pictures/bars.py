"""Horizontal bars with intervals, a row for each name, with the figure beside it; for ablations and peers.

Bars begin at zero and rows have their own names, so there is no legend, and colour has no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from .numbers import Value

OURS, THEIRS, FAILED = "0.55", "0.85", "could not run"


@dataclass(frozen=True)
class Bar:
    """One row. Without a value it has a reason."""

    name: str
    value: Value | None
    ours: bool = False
    why: str = FAILED


def draw(axes: Axes, bars: Sequence[Bar], label: str, *, form: str = "{:.2f}", mark: float | None = None,
         names: bool = True, most: float | None = None) -> None:
    """Draws the rows from the top down. `mark` is a line to compare with; `most` is the scale that several axes
    share."""
    values = [bar.value for bar in bars if bar.value is not None]
    least = min([0.0] + [value.low for value in values])
    end = most if most is not None else max([value.high for value in values] + [mark or 0.0], default=1.0) or 1.0
    for row, bar in enumerate(bars):
        if bar.value is None:
            axes.annotate(bar.why, (0, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7.5,
                          style="italic", color="0.25", zorder=5,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})
            continue
        axes.barh(row, bar.value.median, height=0.66, facecolor=OURS if bar.ours else THEIRS, edgecolor="black",
                  linewidth=0.7, hatch="" if bar.ours else "////", zorder=2)
        axes.errorbar(bar.value.median, row, xerr=[[part] for part in bar.value.bars()], color="black", capsize=2.5,
                      elinewidth=1.0, linestyle="none", zorder=4)
        axes.annotate(_number(form, bar.value.median), (max(bar.value.high, 0.0), row), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8)
    axes.axvline(0, color="black", linewidth=0.8, zorder=3)
    if mark is not None:
        axes.axvline(mark, color="black", linewidth=1.1, linestyle=(0, (5, 3)), zorder=3)
    axes.set_xlim(1.05 * least, end + 0.2 * (end - least))
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars] if names else [])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.set_xlabel(label)


def _number(form: str, value: float) -> str:
    """Formats the value, without a minus if it rounds to zero."""
    said = form.format(value).rstrip(".")
    return said.lstrip("-") if float(said) == 0 else said


def most(columns: Sequence[Sequence[Bar]], mark: float = 0.0) -> float:
    """Returns the end of a scale for all columns."""
    return max([bar.value.high for bars in columns for bar in bars if bar.value is not None] + [mark]) or 1.0


def short(reason: object, length: int = 34) -> str:
    """Shortens a reason to fit into a row; the report has all of it."""
    text = " ".join(str(reason).split()) or FAILED
    return text if len(text) <= length else text[:length - 1].rstrip(" ,:;") + "…"
