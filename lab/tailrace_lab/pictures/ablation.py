"""The gain of each part of the design: total divided by the limit, and slow-down of the computation, for each
rung."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from tailrace.pictures.fault import PictureError

from . import bars, numbers
from .numbers import Result


def draw(result: Result) -> Figure:
    """Draws both, in the order of the file; the rungs that are tailrace's default are dark."""
    rungs = result.get("ablation") or []
    if not rungs:
        raise PictureError("ablation", 'no ablation in it; expected "ablation" with a series for each rung')
    figure = Figure(figsize=(7.2, 1.7 + 0.38 * len(rungs)))
    columns: Any = figure.subplots(1, 2)
    bars.draw(columns[0], _bars(result, "to_limit"), "total / limit", mark=1.0)
    bars.draw(columns[1], _bars(result, "slowdown"), "slow-down of the computation, %", form="{:.1f}", names=False)
    point = numbers.only_point(result)
    figure.suptitle("What each part is worth" + (f", at C/W {numbers.label(point)}" if point else ""))
    columns[0].set_title("dashed: the limit; dark: tailrace by default", color="0.25", fontsize=8)
    figure.supxlabel(f"error bars: {numbers.interval(result)}", color="0.25", fontsize=8)
    return figure


def alt(result: Result) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    said = []
    for rung in result.get("ablation") or []:
        found = numbers.to_limit(numbers.only_point(result), rung["series"])
        said.append(f"{rung['name']} {found.median:.2f}" if found else f"{rung['name']} {bars.FAILED}")
    return f"Bars of total by limit, a rung each: {', '.join(said)}. Beside them the slow-down of the computation."


def default(rungs: list[dict[str, Any]], k: int) -> bool:
    """Returns True if a rung is tailrace's default; the last one, if the file marks none."""
    names = [rung["series"].get("name") for rung in rungs]
    return names[k] == "tailrace-alloc" if "tailrace-alloc" in names else k == len(rungs) - 1


def _bars(result: Result, name: str) -> list[bars.Bar]:
    rows, rungs, point = [], result["ablation"], numbers.only_point(result)
    for k, rung in enumerate(rungs):
        series = rung["series"]
        value = numbers.to_limit(point, series) if name == "to_limit" else numbers.value(series, name)
        if value is not None and name == "slowdown":
            value = value.times(100)
        rows.append(bars.Bar(rung["name"], value, default(rungs, k), bars.short(series.get("error", bars.FAILED))))
    return rows
