"""The points and series of a result file as plain numbers with their intervals, for pictures and tables.

Takes the dictionary that `tailrace_lab.bench.result` has checked. A missing figure is None, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Result = dict[str, Any]
_MOST_CONFIDENCE = 0.997  # that of the bootstrap


@dataclass(frozen=True)
class Value:
    """A median with its confidence interval and its range."""

    median: float
    low: float
    high: float
    least: float
    most: float

    def times(self, factor: float) -> Value:
        """Returns it in other units."""
        return Value(*(factor * value for value in (self.median, self.low, self.high, self.least, self.most)))

    def minus(self, offset: float) -> Value:
        """Returns it relative to another origin."""
        return Value(*(value - offset for value in (self.median, self.low, self.high, self.least, self.most)))

    def bars(self) -> tuple[float, float]:
        """Returns the interval as matplotlib expects it: below and above the median."""
        return max(0.0, self.median - self.low), max(0.0, self.high - self.median)


def value(series: dict[str, Any], name: str) -> Value | None:
    """Returns the summary figure `name` of a series."""
    found = (series.get("summary") or {}).get(name)
    if not found or found.get("median") is None:
        return None
    middle = float(found["median"])
    rest = [middle if found.get(key) is None else float(found[key]) for key in ("ci_low", "ci_high", "least", "most")]
    return Value(middle, *rest)


def ratio(point: dict[str, Any]) -> float:
    """Returns C/W as measured."""
    return float(point["compute_seconds"]) / float(point["write_seconds"])


def asked(point: dict[str, Any]) -> float:
    """Returns C/W as requested."""
    wanted = point.get("c_over_w_asked")
    return ratio(point) if wanted is None else float(wanted)


def label(point: dict[str, Any]) -> str:
    """Returns C/W for titles, tables and sentences: as measured, and as requested if that is far off."""
    off = ratio(point) / asked(point) if asked(point) > 0 else 1.0
    return f"{ratio(point):.3g}" if 0.8 < off < 1.25 else f"{ratio(point):.3g} (asked: {asked(point):.3g})"


def points(result: Result) -> list[dict[str, Any]]:
    """Returns the points, from little computing to much."""
    return sorted(result.get("points") or [], key=ratio)


def to_limit(point: dict[str, Any] | None, series: dict[str, Any]) -> Value | None:
    """Returns the total divided by the limit without copies; without a point, by the file's own limit."""
    total = value(series, "total")
    if point is None or total is None:
        return value(series, "to_limit")
    return total.times(1 / float(point["limit_seconds"]))


def only_point(result: Result) -> dict[str, Any] | None:
    """Returns the point of an ablation, which has only one C/W."""
    found = result.get("points") or []
    return found[0] if len(found) == 1 else None


def writers(result: Result) -> list[str]:
    """Returns the names of all series that write, in the order of the file."""
    names: dict[str, None] = {}
    for point in points(result):
        names.update(dict.fromkeys(name for name in point["series"] if name != "none"))
    return list(names)


def measured(result: Result, name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Returns the points at which a series could run, each with the series."""
    for point in points(result):
        series = point["series"].get(name)
        if series is not None and value(series, "total") is not None:
            yield point, series


def deviations(result: Result) -> list[tuple[float, str, float, float, float]]:
    """Returns (deviation, series, C/W, predicted, measured) for every prediction, the largest deviation first."""
    every = [(name, ratio(point), series) for name in writers(result) for point, series in measured(result, name)]
    single = only_point(result)
    if single is not None:
        every += [(rung["name"], ratio(single), rung["series"]) for rung in result.get("ablation") or []]
    found = []
    for name, at, series in every:
        off, predicted = series.get("deviation"), series.get("predicted_seconds")
        if off is not None and predicted:
            found.append((float(off), name, at, float(predicted), (1 + float(off)) * float(predicted)))
    return sorted(found, key=lambda one: -abs(one[0]))


def fit(result: Result, name: str) -> float | None:
    """Returns the slope, in seconds, of an earlier measurement."""
    found = (result.get("measured") or {}).get(name)
    return None if not found or found.get("seconds") is None else float(found["seconds"])


def median(values: list[float]) -> float:
    """Returns the middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def write_seconds(result: Result) -> float | None:
    """Returns W: the median over the points; without points, by regression."""
    every = [float(point["write_seconds"]) for point in points(result)]
    return median(every) if every else fit(result, "write_regression")


def interval(result: Result) -> str:
    """Describes the error bars. Few runs allow only the confidence that the median lies between least and most."""
    runs = (result.get("settings") or {}).get("repeats")
    if not isinstance(runs, int) or runs < 2:
        return "interval of confidence of the median"
    reached = min(_MOST_CONFIDENCE, 1 - 2 / 2**runs)
    return f"{100 * reached:.3g} % interval of confidence of the median, {runs} runs"
