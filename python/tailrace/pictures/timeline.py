"""The timeline of a run: the program, the writer and the potential shield time (PST) of each variable, and memory.

Of many iterations it shows the few with the most waiting or excess, and above them their position in the run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from tailrace import quantity

from . import style
from .fault import PictureError
from .trace import Block, Shield, Trace, computing, joined

Interval = tuple[float, float]

_MANY, _FEW = 8, 5  # From _MANY iterations on, _FEW are shown.
_VARIABLES = 6
_ROWS = 4  # of overlapping blocks in a lane
_FINE = 3000  # Gaps smaller than the picture's width divided by this are not visible.

_COMPUTE: dict[str, Any] = {"facecolor": "#CFE6F5", "edgecolor": "#5B7C90", "linewidth": 0.5}
_HANDOVER: dict[str, Any] = {"facecolor": "#E69F00", "edgecolor": "black", "linewidth": 0.5, "hatch": "xxxxx"}
_WAIT: dict[str, Any] = {"facecolor": "#A03B00", "edgecolor": "black", "linewidth": 0.5}
_QUEUED: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.3", "linewidth": 0.6, "hatch": "...."}
_WRITING: dict[str, Any] = {"facecolor": "#1B6E53", "edgecolor": "black", "linewidth": 0.6}
_PST: dict[str, Any] = {"facecolor": "0.88", "edgecolor": "0.2", "linewidth": 0.6}
_EXCESS: dict[str, Any] = {"facecolor": "white", "edgecolor": "#A03B00", "linewidth": 0.9, "hatch": "//////"}


def draw(trace: Trace, begin: float | None = None, end: float | None = None) -> Figure:
    """Draws the time between two moments, in seconds from the first event; by default all, or a few iterations of
    many."""
    window, chosen = _window(trace, begin, end)
    zoomed = window[0] > 0 or window[1] < trace.end
    variables = trace.variables()[:_VARIABLES]
    lanes = 1 + len(variables) * (2 if trace.blocks else 1)
    counters = [name for name in ("memory held", "blocks under way") if trace.counters.get(name)]
    heights = ([0.55] if zoomed else []) + [0.5 * lanes + 0.3] + [0.75] * len(counters)
    figure = Figure(figsize=(9.6, 1.75 + 0.95 * sum(heights)))
    rows: Any = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    unit, name = (1e3, "ms") if window[1] - window[0] < 1 else (1.0, "s")
    if zoomed:
        _draw_overview(rows[0], trace, window)
    main = rows[1 if zoomed else 0]
    _draw_lanes(main, trace, variables, window, unit)
    below = [main, *rows[len(rows) - len(counters):]] if counters else [main]
    for axes, counter in zip(below[1:], counters):
        _draw_counter(axes, counter, trace.counters[counter], window, unit)
    for axes in below:
        axes.set_xlim(window[0] * unit, window[1] * unit)
        axes.tick_params(labelbottom=axes is below[-1])
    below[-1].set_xlabel(f"time since the first event, {name}")
    figure.suptitle(_title(trace, chosen))
    figure.legend(handles=_legend(trace), loc="outside lower center", ncols=4, columnspacing=1.6)
    return figure


def alt(trace: Trace) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    known = [shield for shield in trace.shields() if math.isfinite(shield.written)]
    late = [shield for shield in known if shield.excess > 0]
    waits = sum(end - begin for begin, end in joined((span.begin, span.end) for span in trace.of("wait")))
    handing = sum(end - begin for begin, end in joined((span.begin, span.end) for span in trace.of("handover")))
    said = (f"Timeline of {quantity.counted(len(trace.starts()), 'iteration')}, "
            f"{quantity.format_time(trace.end)}, with {', '.join(trace.variables())}: the program spends "
            f"{quantity.format_time(handing)} handing over and {quantity.format_time(waits)} waiting")
    if not trace.blocks:
        return said + "; when blocks were written is not in the trace, only in that of the library."
    if not known:
        return said + "; the memory of its blocks was free at once."
    return (said + f"; {len(late)} of {quantity.counted(len(known), 'block')} were written later than their memory "
            "was needed again"
            + (f", at most by {quantity.format_time(max(shield.excess for shield in late))}." if late else "."))


def _title(trace: Trace, chosen: Sequence[int]) -> str:
    starts = trace.starts()
    title = f"Timeline of {trace.program}" if trace.program else "Timeline of a run"
    if chosen:
        title += f": iterations {chosen[0]} to {chosen[-1]} of {len(starts)}"
    if len(trace.variables()) > _VARIABLES:
        title += f", {_VARIABLES} of {len(trace.variables())} variables"
    return title + (f" ({quantity.counted(trace.dropped, 'event')} lost)" if trace.dropped else "")


def _window(trace: Trace, begin: float | None, end: float | None) -> tuple[Interval, list[int]]:
    """Returns the visible time, and the iterations chosen for it, if any."""
    if begin is not None or end is not None:
        window = (begin or 0.0, trace.end if end is None else min(end, trace.end))
        if window[0] >= window[1]:
            raise PictureError(f"from {window[0]:g} s to {window[1] if end is None else end:g} s",
                               f"nothing to see; expected a part of the {trace.end:g} s that the trace is long")
        return window, []
    starts = trace.starts()
    if len(starts) <= _MANY:
        return (0.0, trace.end), []
    numbers = list(starts)
    edges = [*starts.values(), trace.end]
    trouble = [0.0] * len(numbers)
    for k in range(len(numbers)):
        trouble[k] = sum(max(0.0, min(span.end, edges[k + 1]) - max(span.begin, edges[k]))
                         for span in trace.spans if span.kind != "compute" and span.name not in ("flush", "close"))
        trouble[k] += sum(shield.excess for shield in trace.shields() if shield.iteration == numbers[k])
    sums = [sum(trouble[k:k + _FEW]) for k in range(len(numbers) - _FEW + 1)]
    middle = (len(numbers) - _FEW) // 2
    # The most conspicuous iterations are in the middle; without any, the middle of the run.
    best = max(range(len(sums)), key=lambda k: (round(sums[k], 9), -abs(k - middle))) if max(sums) > 0 else middle
    return (edges[best], edges[best + _FEW]), numbers[best:best + _FEW]


def _bars(axes: Axes, intervals: Sequence[Interval], at: float, height: float, window: Interval, unit: float,
          look: dict[str, Any]) -> None:
    seen = [(max(begin, window[0]), min(end, window[1])) for begin, end in intervals
            if begin < window[1] and end > window[0]]
    axes.broken_barh([(begin * unit, (end - begin) * unit) for begin, end in seen], (at - height / 2, height), **look)


def _draw_program(axes: Axes, trace: Trace, at: float, height: float, window: Interval, unit: float) -> None:
    gap = (window[1] - window[0]) / _FINE
    for kind, look in (("compute", _COMPUTE), ("handover", _HANDOVER), ("wait", _WAIT)):
        found = computing(trace) if kind == "compute" else [(span.begin, span.end) for span in trace.of(kind)]
        # Computations of consecutive variables stay separate, so that the start of each is visible.
        merged = found if kind == "compute" and len(found) < 100 else joined(found, gap)
        # Hand-overs are short, so they are taller, to be visible.
        _bars(axes, merged, at, 1.25 * height if kind == "handover" else height, window, unit, look)


def _draw_overview(axes: Axes, trace: Trace, window: Interval) -> None:
    _draw_program(axes, trace, 0.0, 0.8, (0.0, trace.end), 1.0)
    axes.axvspan(*window, ymin=-0.12, ymax=1.12, facecolor="none", edgecolor="black", linewidth=1.6, clip_on=False)
    axes.set_xlim(0, trace.end)
    axes.set_yticks([0], ["whole run"])
    axes.set_ylim(-0.55, 0.55)
    axes.set_xlabel("s", labelpad=-2)
    style.bare(axes)


def _draw_lanes(axes: Axes, trace: Trace, variables: Sequence[str], window: Interval, unit: float) -> None:
    ticks = {0.0: "program"}
    _draw_program(axes, trace, 0.0, 0.72, window, unit)
    shields = trace.shields()
    at = -0.6
    for variable in variables:
        axes.axhline(at, color="0.85", linewidth=0.6)
        if trace.blocks:  # The program's trace alone does not have them.
            ticks[at - 0.55] = f"writer, {variable}"
            mine = [block for block in trace.blocks if block.variable == variable]
            _draw_blocks(axes, mine, at - 0.55, window, unit, trace.end)
            at -= 0.95
        mine_shields = [one for one in shields if one.variable == variable]
        if mine_shields or not trace.blocks:
            ticks[at - 0.45] = f"PST, {variable}"
            _draw_shields(axes, mine_shields, at - 0.45, window, unit)
            at -= 0.95
    for number, start in trace.starts().items():
        if window[0] <= start < window[1]:
            axes.axvline(start * unit, color="0.4", linewidth=0.7, linestyle=(0, (2, 2)), zorder=0)
            if len(trace.starts()) <= 60:
                axes.annotate(str(number), (start * unit, 0.48), xytext=(2, 1), textcoords="offset points",
                              fontsize=7.5, color="0.2")
    axes.set_ylim(at, 0.8)
    axes.set_yticks(list(ticks), list(ticks.values()))
    style.bare(axes)


def _rows(blocks: Sequence[Block], end: float) -> list[int]:
    """Returns the row of each block, so that blocks under way at once do not hide each other; the last row takes the
    rest."""
    free: list[float] = []
    rows = []
    for block in blocks:
        row = next((k for k, until in enumerate(free) if until <= block.queued), None)
        if row is None and len(free) < _ROWS:
            free.append(0.0)
        row = len(free) - 1 if row is None else row
        free[row] = max(free[row], min(block.written, end))
        rows.append(row)
    return rows


def _draw_blocks(axes: Axes, blocks: Sequence[Block], at: float, window: Interval, unit: float, end: float) -> None:
    rows = _rows(blocks, end)
    count = max(rows, default=0) + 1
    height = 0.8 / count
    for row in range(count):
        mine = [block for block, own in zip(blocks, rows) if own == row]
        center = at + 0.4 - height * (row + 0.5)
        _bars(axes, [(block.queued, min(block.writing, end)) for block in mine], center, 0.8 * height, window, unit,
              _QUEUED)
        _bars(axes, [(block.writing, min(block.written, end)) for block in mine if block.writing < end], center,
              0.8 * height, window, unit, _WRITING)


def _draw_shields(axes: Axes, shields: Sequence[Shield], at: float, window: Interval, unit: float) -> None:
    """Draws the PST at the top and its excess at the bottom, since the next PST may begin before the excess ends."""
    _bars(axes, [(one.begin, one.needed) for one in shields], at + 0.14, 0.24, window, unit, _PST)
    late = [(one.needed, one.written) for one in shields if one.excess > 0]
    _bars(axes, late, at - 0.16, 0.24, window, unit, _EXCESS)
    for one in shields:
        if one.excess > 0 and window[0] <= one.needed <= window[1]:
            axes.vlines(one.needed * unit, at - 0.28, at + 0.26, color="#A03B00", linewidth=1.6)
        if math.isfinite(one.written) and one.written <= one.needed and window[0] <= one.written <= window[1]:
            axes.vlines(one.written * unit, at + 0.02, at + 0.26, color="black", linewidth=1.4)


def _draw_counter(axes: Axes, name: str, values: Sequence[tuple[float, float]], window: Interval,
                  unit: float) -> None:
    scale, label = (2.0**20, "memory\nheld, MiB") if name == "memory held" else (1.0, "blocks\nunder way")
    before = [value for at, value in values if at <= window[0]]
    inside = [(at, value) for at, value in values if window[0] < at < window[1]]
    first = before[-1] if before else 0.0
    times = [window[0], *(at for at, _ in inside), window[1]]
    heights = [first, *(value for _, value in inside), inside[-1][1] if inside else first]
    axes.fill_between([at * unit for at in times], [value / scale for value in heights], step="post",
                      facecolor="0.85", edgecolor="0.2", linewidth=0.8)
    axes.set_ylim(0, 1.15 * max(heights) / scale or 1)
    axes.locator_params(axis="y", nbins=3, integer=True)
    axes.set_ylabel(label, rotation=0, ha="right", va="center", fontsize=8.5)


def _legend(trace: Trace) -> list[Any]:
    handles: list[Any] = [Patch(label="program computes", **_COMPUTE), Patch(label="hands over", **_HANDOVER),
                          Patch(label="waits", **_WAIT)]
    if trace.blocks:
        handles += [Patch(label="block queued", **_QUEUED), Patch(label="block being written", **_WRITING)]
    shields = trace.shields()
    if shields:
        handles.append(Patch(label="PST: handed over until needed again", **_PST))
    if any(one.excess > 0 for one in shields):
        handles.append(Patch(label="excess: needed, not yet written", **_EXCESS))
    if any(one.written <= one.needed for one in shields):
        handles.append(Line2D([], [], color="black", marker="|", markersize=9, markeredgewidth=1.5, linestyle="none",
                              label="written within its PST"))
    return handles
