"""The picture of time: what the program did when, written synchronously and through tailrace, on one axis.

At the top, both complete runs; at the bottom, a few outputs of each, with tailrace's writer at work beside the
program; at the right, the program's wait for each output. It draws the timelines that the solver reports, and
measures nothing.
"""

from __future__ import annotations

import pathlib
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter
from tailrace.pictures import style

Interval = tuple[float, float]  # begin and length, seconds

# Near Okabe and Ito's colours, which everybody can distinguish; lightness and hatching work without colour.
_COMPUTE: dict[str, Any] = {"facecolors": "#A9DAF5", "edgecolors": "none"}
_WAIT: dict[str, Any] = {"facecolors": "#D55E00", "edgecolors": "none"}
_WRITER: dict[str, Any] = {"facecolor": "#009E73", "alpha": 0.55, "hatch": "////", "edgecolor": "black",
                           "linewidth": 0.4}
_ZOOMED = 6  # outputs of the synchronous run


def intervals(report: dict[str, Any], *kinds: str) -> list[Interval]:
    """Returns when the run did one of `kinds`, with intervals joined that follow within microseconds."""
    joined: list[list[float]] = []
    for event in report["timeline"]:
        if event["kind"] not in kinds or event["end"] <= event["start"]:
            continue
        if joined and event["start"] - joined[-1][1] < 1e-5:
            joined[-1][1] = event["end"]
        else:
            joined.append([event["start"], event["end"]])
    return [(begin, end - begin) for begin, end in joined]


def waits(report: dict[str, Any]) -> list[float]:
    """Returns the milliseconds that the program waited for each output; the close counts for the last one."""
    sums = [0.0] * int(report["outputs"])
    for event in report["timeline"]:
        if event["kind"] in ("output", "close"):
            sums[int(event["iteration"]) - 1] += 1e3 * (event["end"] - event["start"])
    return sums


def writing(report: dict[str, Any]) -> list[tuple[float, float, float]]:
    """Returns begin, end and the share of the time between in which tailrace's writer wrote."""
    shares = []
    begin, before = 0.0, 0.0
    for event in report["timeline"]:
        if "seconds_writing" not in event.get("counters", {}):
            continue
        end, now = event["end"], event["counters"]["seconds_writing"]
        if end > begin:
            shares.append((begin, end, min(1.0, (now - before) / (end - begin))))
        begin, before = end, now
    return shares


def draw(file: pathlib.Path, synchronous: dict[str, Any], tailrace: dict[str, Any], ratio: str,
         quick: bool = False) -> None:
    """Draws both runs into `file`; `ratio` is C/W as measured."""
    figure = Figure(figsize=(13, 7), layout="constrained")
    axes = figure.subplot_mosaic([["whole", "whole"], ["part", "waits"]], width_ratios=(1.75, 1),
                                 height_ratios=(1, 1.3))
    _draw_whole(axes["whole"], synchronous, tailrace)
    _draw_part(axes["part"], synchronous, tailrace)
    _draw_waits(axes["waits"], synchronous, tailrace)
    figure.legend(handles=[
        Patch(facecolor=_COMPUTE["facecolors"], label="program computes"),
        Patch(facecolor=_WAIT["facecolors"], label="program waits for output"),
        Patch(label="tailrace writes meanwhile (height: share of the time)", **_WRITER),
    ], loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(f"The same computation, written synchronously and through tailrace; {ratio}", fontweight="bold")
    if quick:
        style.watermark(figure)
    figure.savefig(file, dpi=110)


def _lane(axes: Axes, report: dict[str, Any], at: float, height: float) -> None:
    axes.broken_barh(intervals(report, "compute", "pack"), (at, height), **_COMPUTE)
    axes.broken_barh(intervals(report, "output", "close"), (at, height), **_WAIT)


def _draw_whole(axes: Axes, synchronous: dict[str, Any], tailrace: dict[str, Any]) -> None:
    end = max(synchronous["seconds_total"], tailrace["seconds_total"])
    for report, at in ((synchronous, 1.0), (tailrace, 0.0)):
        _lane(axes, report, at, 0.7)
        axes.annotate(f" {report['seconds_total']:.2f} s,\n {report['seconds_waiting']:.2f} s waiting",
                      (report["seconds_total"], at + 0.35), va="center")
    axes.set_xlim(0, 1.13 * end)
    axes.set_yticks([1.35, 0.35], ["synchronous", "tailrace"])
    axes.set_xlabel("time, s")
    axes.set_title("Both runs, whole", loc="left", fontsize="medium")
    _bare(axes)


def _draw_part(axes: Axes, synchronous: dict[str, Any], tailrace: dict[str, Any]) -> None:
    n = int(synchronous["outputs"])
    begin = 0.5 * min(synchronous["seconds_total"], tailrace["seconds_total"])
    end = begin + min(_ZOOMED, n) * synchronous["seconds_total"] / n
    _lane(axes, synchronous, 2.0, 0.7)
    _lane(axes, tailrace, 1.0, 0.7)
    for start, stop, share in writing(tailrace):
        axes.bar(start, 0.7 * share, width=stop - start, align="edge", **_WRITER)
    axes.axhline(0.0, color="0.5", linewidth=0.6)
    axes.set_xlim(begin, end)
    axes.set_yticks([2.35, 1.35, 0.35], ["synchronous", "tailrace", "tailrace's\nwriter"])
    axes.set_xlabel("time, s")
    axes.set_title("A part of both", loc="left", fontsize="medium")
    _bare(axes)


def _draw_waits(axes: Axes, synchronous: dict[str, Any], tailrace: dict[str, Any]) -> None:
    for report, marker, color, name in ((synchronous, "o", "#D55E00", "synchronous"),
                                        (tailrace, "x", "#0072B2", "tailrace")):
        axes.plot(waits(report), marker=marker, markersize=3.5, linestyle="none", color=color, label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("output")
    axes.set_ylabel("ms")
    axes.set_title("Waiting for each output", loc="left", fontsize="medium")
    axes.grid(axis="y", color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, borderaxespad=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _bare(axes: Axes) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
