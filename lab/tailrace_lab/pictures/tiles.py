"""The variability tiles of Dorier et al. 2012, §3.1: one tile for each run, one horizontal line for each process,
sorted by write time.

A tile is as wide as its slowest process; white is time that processes waited for it. The grey shows the run's
throughput on a scale common to all tiles, dark being slow; the value is printed below each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import cm
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure

from .write_times import Run

_ACROSS = 6  # tiles in a row
_MOST = 60  # tiles in a picture
_SEPARATE = 64  # up to this number of processes, each has a visible line
# From dark to light, with evenly increasing lightness, and never so light that it looks white.
_SCALE = LinearSegmentedColormap.from_list("throughput", ["#0b2a4a", "#2f6690", "#7aa6c2", "#c9dbe6"])


def draw(runs: list[Run]) -> Figure:
    """Draws all runs, one or more rows for each experiment."""
    chosen = _choose(runs)
    rows = _rows(chosen)
    across = max(len(row) for _, row in rows)
    titled = sum(bool(title) for title, _ in rows)
    figure = Figure(figsize=(max(4.2, 1.0 + 1.32 * across), 1.45 + 1.6 * len(rows) + 0.12 * titled))
    grid: Any = figure.subplots(len(rows), across, squeeze=False)
    unit, name = _unit(chosen)
    norm = _norm([run.throughput / unit for run in chosen])
    for line, (title, row) in zip(grid, rows):
        for k, axes in enumerate(line):
            if k < len(row):
                _draw_tile(axes, row[k], norm, unit, name)
            else:
                axes.set_axis_off()
        if title:
            line[0].set_title(title, fontweight="bold")
        line[0].set_ylabel("processes,\nby write time", fontsize=7.5)
    bar = figure.colorbar(cm.ScalarMappable(norm, _SCALE), ax=grid, orientation="horizontal", fraction=0.03,
                          aspect=60, shrink=0.9, pad=0.03)
    bar.set_label(f"throughput of the run: all bytes by the slowest process, {name}")
    figure.suptitle("Write times of processes" + ("" if len(chosen) == len(runs) else
                                                  f" ({len(chosen)} of {len(runs)} runs, evenly chosen)"))
    return figure


def alt(runs: list[Run]) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    unit, name = _unit(runs)
    rates = [run.throughput / unit for run in runs]
    waste = [100 * run.wasted for run in runs]
    return (f"Variability tiles of {len(runs)} runs: each process of a run is a line as long as its write time. "
            f"Throughput from {min(rates):.2f} to {max(rates):.2f} {name}; from {min(waste):.0f} to {max(waste):.0f} "
            "% "
            "of the processes' time was spent waiting for the slowest.")


def _choose(runs: list[Run]) -> list[Run]:
    """Returns all runs, or as many as a reader can look at, evenly spread over the file."""
    if len(runs) <= _MOST:
        return runs
    return [runs[k] for k in np.unique(np.linspace(0, len(runs) - 1, _MOST).round().astype(int))]


def _rows(runs: list[Run]) -> list[tuple[str, list[Run]]]:
    """Returns (title, at most _ACROSS runs); the title is above an experiment's first row."""
    experiments: dict[str, list[Run]] = {}
    for run in runs:
        experiments.setdefault(run.experiment, []).append(run)
    return [(name if first == 0 else "", every[first:first + _ACROSS])
            for name, every in experiments.items() for first in range(0, len(every), _ACROSS)]


def _unit(runs: list[Run]) -> tuple[float, str]:
    most = max(run.throughput for run in runs)
    return (1e9, "GB/s") if most >= 1e9 else (1e6, "MB/s") if most >= 1e6 else (1e3, "kB/s")


def _norm(rates: list[float]) -> Normalize:
    least, most = min(rates), max(rates)
    if least > 0 and most > 20 * least:
        return LogNorm(least, most)
    margin = 0.02 * most if most - least < 0.02 * most else 0.0
    return Normalize(least - margin, most + margin or 1.0)


def _draw_tile(axes: Axes, run: Run, norm: Normalize, unit: float, name: str) -> None:
    seconds = np.sort(np.array(run.seconds))[::-1]
    count = len(seconds)
    axes.stairs(seconds, np.arange(count + 1), orientation="horizontal", fill=True,
                facecolor=_SCALE(norm(run.throughput / unit)), edgecolor="none")
    if 1 < count <= _SEPARATE:
        axes.add_collection(LineCollection([[(0, k), (run.slowest, k)] for k in range(1, count)], colors="white",
                                           linewidths=min(1.0, 16 / count)))
    axes.set_xlim(0, run.slowest)
    axes.set_ylim(0, count)
    axes.set_yticks([])
    axes.set_xticks([0, run.slowest], ["0", _time(run.slowest)], fontsize=7)
    first, last = axes.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.8)
    axes.set_xlabel(f"run {run.name}\n{run.throughput / unit:.3g} {name}, {100 * run.wasted:.0f} % wasted",
                    fontsize=7.5, labelpad=1)


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
