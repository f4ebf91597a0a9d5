"""tailrace beside its peers: total divided by the limit, and the time that the caller waits, for each C/W."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from tailrace.pictures.fault import PictureError

from . import bars, numbers
from .numbers import Result


def draw(result: Result) -> Figure:
    """Draws a column for each C/W, and a row for each peer, with the same scales along a row of panels."""
    points = numbers.points(result)
    names = order(result)
    if not points or not names:
        raise PictureError("points", 'no peers in it; expected "points" with a series for each peer')
    limits = [_bars(point, names, "to_limit") for point in points]
    waits = [_bars(point, names, "waiting") for point in points]
    figure = Figure(figsize=(max(7.2, 2.0 + 2.2 * len(points)), 2.0 + 0.46 * len(names)))
    grid: Any = figure.subplots(2, len(points), squeeze=False)
    for k, point in enumerate(points):
        bars.draw(grid[0][k], limits[k], "total / limit", mark=1.0, names=k == 0, most=bars.most(limits, 1.0))
        bars.draw(grid[1][k], waits[k], "waiting for output, s", form="{:#.3g}", names=k == 0,
                  most=bars.most(waits))
        grid[0][k].set_title(f"C/W = {numbers.label(point)}", fontweight="bold")
    figure.supxlabel(f"error bars: {numbers.interval(result)}", color="0.25", fontsize=8)
    figure.suptitle("Total time and waiting, side by side (dashed: the limit)")
    return figure


def alt(result: Result) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    said = []
    for point in numbers.points(result):
        rows = [f"{bar.name} {bar.value.median:.2f}" for bar in _bars(point, order(result), "to_limit") if bar.value]
        said.append(f"at C/W {numbers.label(point)}: " + ", ".join(rows))
    return "Bars of total by limit for each peer, " + "; ".join(said) + ". Below, the time spent waiting for output."


def order(result: Result) -> list[str]:
    """Returns the names, nearest to the limit first, by the mean over the points; those that never ran are last."""

    def mean(name: str) -> float:
        found = [numbers.to_limit(point, series) for point, series in numbers.measured(result, name)]
        values = [value.median for value in found if value is not None]
        return sum(values) / len(values) if values else float("inf")

    return sorted(numbers.writers(result), key=mean)


def ours(name: str) -> bool:
    """Returns True if a series is tailrace's."""
    return name.startswith("tailrace")


def _bars(point: dict[str, Any], names: list[str], what: str) -> list[bars.Bar]:
    rows = []
    for name in names:
        series = point["series"].get(name) or {}
        value = numbers.value(series, what) if what == "waiting" else numbers.to_limit(point, series)
        rows.append(bars.Bar(name, value, ours(name), bars.FAILED if "error" in series else "not run"))
    return rows
