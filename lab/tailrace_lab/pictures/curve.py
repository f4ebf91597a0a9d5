"""Total time over C/W: the measured writers, the models, the synchronous run and the limit (Sid Lakhdar 2017, figure
4.2).

At the bottom, the total divided by the limit, and the predictions' deviations. Points are measured, lines are
computed. The limit is C + W + (n − 1)·max(C, W/N_io), as in the result file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tailrace import quantity
from tailrace.pictures import style
from tailrace.pictures.fault import PictureError

from . import numbers
from .numbers import Result

MODELS = {"limit": "limit", "sync": "model: synchronous", "model1": "model 1", "model2": "model 2",
          "model3": "model 3", "pipelined": "pipelined", "model2_copy": "model 2 with copies",
          "pipelined_copy": "pipelined with copies"}
_LINES: dict[str, dict[str, Any]] = {
    "limit": {"color": "0.72", "linewidth": 5, "linestyle": "-"},
    "sync": {"color": "black", "linewidth": 1.1, "linestyle": (0, (5, 3))},
    "model1": {"color": "0.25", "linewidth": 1.2, "linestyle": ":"},
    "model2": {"color": "#0072B2", "linewidth": 1.0, "linestyle": "-"},
    "model3": {"color": "#009E73", "linewidth": 1.2, "linestyle": (0, (6, 1, 1, 1, 1, 1))},
    "pipelined": {"color": "#0072B2", "linewidth": 1.3, "linestyle": (0, (8, 2))},
    "model2_copy": {"color": "#D55E00", "linewidth": 1.2, "linestyle": "-."},
    "pipelined_copy": {"color": "#D55E00", "linewidth": 1.3, "linestyle": (0, (8, 2, 1, 2, 1, 2))},
}
_SAME = 0.003  # Lines closer than this are drawn as one.
_BAND = 10.0  # %, within which predictions should be

Line = list[tuple[float, float, float]]  # C/W, seconds, divided by the limit


def draw(result: Result) -> Figure:
    """Draws both panels."""
    points = numbers.points(result)
    if not points:
        raise PictureError("points", 'no point in it to draw a curve of; expected "points" over several C/W')
    predicted = bool(numbers.deviations(result))
    figure = Figure(figsize=(7.2, 7.6 if predicted else 6.2))
    ratios = (3.2, 1.6, 1.3) if predicted else (3.2, 1.6)
    rows: Any = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios)
    looks = style.looks(numbers.writers(result))
    lines, labels = _lines(points)
    _draw_totals(rows[0], result, looks, lines, labels)
    _draw_to_limit(rows[1], result, looks, lines)
    if predicted:
        _draw_deviations(rows[2], result, looks)
    rows[-1].set_xlabel("C/W, compute time by write time of an iteration")
    figure.align_ylabels(list(rows))
    figure.suptitle(_title(result))
    return figure


def alt(result: Result) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    points = numbers.points(result)
    names = ", ".join(numbers.writers(result))
    ends = f"{numbers.ratio(points[0]):.3g} to {numbers.ratio(points[-1]):.3g}"
    return (f"Total time against C/W from {ends} for {names}, "
            "with the models and the limit; below, the same divided by the limit, and the deviation of the "
            "prediction. "
            "The table below has the figures.")


def _title(result: Result) -> str:
    settings = result.get("settings") or {}
    count, size = settings.get("iterations"), settings.get("bytes")
    points = numbers.points(result)
    measured = f"C/W, measured from {numbers.ratio(points[0]):.3g} to {numbers.ratio(points[-1]):.3g}"
    if not count or not size:
        return f"Total time against {measured}"
    return f"Total time of {count} iterations of {size / 2**20:g} MiB against {measured}"


def _lines(points: list[dict[str, Any]]) -> tuple[dict[str, Line], dict[str, str]]:
    """Returns the computed lines and their labels; a line that coincides with another adds its name to that one."""
    lines: dict[str, Line] = {}
    same: dict[str, list[str]] = {}
    for name in MODELS:
        line = []
        for point in points:
            best = float(point["limit_seconds"])
            seconds = best if name == "limit" else (point.get("models") or {}).get(name)
            if seconds is not None:
                line.append((numbers.ratio(point), float(seconds), float(seconds) / best))
        twin = next((other for other, drawn in lines.items() if _alike(drawn, line)), None)
        if twin is not None:
            same[twin].append(name)
        elif line:
            lines[name], same[name] = line, [name]
    return lines, {name: _label(names) for name, names in same.items()}


def _alike(one: Line, other: Line) -> bool:
    return len(one) == len(other) and all(abs(a[1] / b[1] - 1) < _SAME for a, b in zip(one, other))


def _label(names: list[str]) -> str:
    """limit, model1, model2 → "limit = models 1, 2". The pipelined ones generalise those of one device and variable,
    so they are named only where they are alone."""
    names = [name for name in names if not name.startswith("pipelined")] or names[:1]
    numbered = [name for name in names if name in ("model1", "model2", "model3")]
    others = [MODELS[name] for name in names if name not in numbered]
    if len(numbered) > 1:
        others.append("models " + ", ".join(name[-1] for name in numbered))
    else:
        others += [MODELS[name] for name in numbered]
    return " = ".join(others)


def _scatter(axes: Axes, at: float, value: numbers.Value, look: style.Look, label: str) -> None:
    axes.errorbar([at], [value.median], [[bar] for bar in value.bars()], color=look.color, marker=look.marker,
                  markerfacecolor=look.face, markersize=5, markeredgewidth=1.1, linestyle="none", capsize=2.5,
                  elinewidth=0.9, label=label, zorder=3)


def _shifts(result: Result) -> dict[str, float]:
    """Returns factors that move series apart that would hide each other."""
    names = numbers.writers(result)
    return {name: 1.035 ** (k - (len(names) - 1) / 2) for k, name in enumerate(names)}


def _draw_totals(axes: Axes, result: Result, looks: dict[str, style.Look], lines: dict[str, Line],
                 labels: dict[str, str]) -> None:
    for name, line in lines.items():
        axes.plot([x for x, _, _ in line], [seconds for _, seconds, _ in line], label=labels[name], **_LINES[name])
    seen = [(x, seconds) for line in lines.values() for x, seconds, _ in line]
    shifts = _shifts(result)
    for name, look in looks.items():
        label = name
        for point, series in numbers.measured(result, name):
            total = numbers.value(series, "total")
            assert total is not None
            _scatter(axes, numbers.ratio(point) * shifts[name], total, look, label)
            label = "_"
            seen += [(numbers.ratio(point), total.low), (numbers.ratio(point), total.high)]
    _draw_without(axes, result)
    axes.set_xscale("log")
    axes.set_yscale("log")
    style.plain_log(axes.xaxis, [x for x, _ in seen])
    style.plain_log(axes.yaxis, [seconds for _, seconds in seen])
    axes.grid(True)
    axes.set_ylabel("total time, s")
    _make_room(axes, seen, len(axes.legend(loc="upper left", ncols=2, columnspacing=1.4).get_texts()))
    axes.set_title(f"points: measured, medians (bars: {numbers.interval(result)}); lines: computed", color="0.25",
                   fontsize=8)


def _make_room(axes: Axes, seen: Sequence[tuple[float, float]], entries: int) -> None:
    """Sets the upper end, above the points in the left half, for the legend. The computation alone may leave at the
    bottom."""
    ratios = [x for x, _ in seen]
    bottom = 0.8 * min(seconds for _, seconds in seen)
    middle = (min(ratios) * max(ratios)) ** 0.5
    left = max(seconds for x, seconds in seen if x <= 1.1 * middle)
    free = 1 - 0.06 - 0.055 * ((entries + 1) // 2)
    axes.set_ylim(bottom, max(1.2 * max(seconds for _, seconds in seen), bottom * (left / bottom) ** (1 / free)))


def _draw_without(axes: Axes, result: Result) -> None:
    """Draws the computation alone; no writer can be faster."""
    found = [(numbers.ratio(point), total.median) for point, series in numbers.measured(result, "none")
             if (total := numbers.value(series, "total")) is not None]
    if found:
        axes.plot(*zip(*found), color="0.45", linestyle=(0, (1, 2.5)), linewidth=1.3, label="no output (measured)")


def _draw_to_limit(axes: Axes, result: Result, looks: dict[str, style.Look], lines: dict[str, Line]) -> None:
    """Draws the asynchronous writers; the synchronous run leaves the picture at the top, since it would hide the
    differences."""
    shifts = _shifts(result)
    inside: list[float] = [1.05, 1.0]
    left: list[float] = []
    for name, look in looks.items():
        for point, series in numbers.measured(result, name):
            by_limit = numbers.to_limit(point, series)
            assert by_limit is not None
            (left if name.startswith("sync") else inside).extend((by_limit.low, by_limit.high))
            _scatter(axes, numbers.ratio(point) * shifts[name], by_limit, look, name)
    for name, line in lines.items():
        axes.plot([x for x, _, _ in line], [by_limit for _, _, by_limit in line], **_LINES[name])
        if name != "sync":
            inside += [by_limit for _, _, by_limit in line]
    margin = 0.12 * (max(inside) - min(inside))
    top = max(inside) + margin
    axes.set_ylim(min(inside) - margin, top)
    if left and max(left) > top:
        axes.set_title(f"synchronous up to {max(left):.2f}, beyond the panel", color="0.25", fontsize=8)
    axes.grid(True)
    axes.set_ylabel("total / limit")


def _draw_deviations(axes: Axes, result: Result, looks: dict[str, style.Look]) -> None:
    shifts = _shifts(result)
    least, most = -_BAND, _BAND
    for name, look in looks.items():
        for point, series in numbers.measured(result, name):
            if series.get("deviation") is None:
                continue
            off = 100 * float(series["deviation"])
            axes.plot([numbers.ratio(point) * shifts[name]], [off], color=look.color, marker=look.marker,
                      markerfacecolor=look.face, markersize=5, markeredgewidth=1.1, linestyle="none", label=name,
                      zorder=3)
            least, most = min(least, off), max(most, off)
    axes.axhline(0, color="0.72", linewidth=2)
    for edge in (-_BAND, _BAND):
        axes.axhline(edge, color="0.35", linewidth=0.8, linestyle=(0, (5, 3)))
    axes.set_ylim(least - 0.1 * (most - least), most + 0.1 * (most - least))
    axes.grid(True)
    axes.set_ylabel("measured −\npredicted, %")
    worst, name, at, _, _ = numbers.deviations(result)[0]
    off = quantity.percent(worst, "+")
    axes.set_title(f"largest deviation of the prediction: {off} % ({name}, C/W {at:.3g}); dashed: ±{_BAND:.0f} %",
                   color="0.25", fontsize=8)
