"""The pictures of compare.py: an image beside the results of its filters, and the time that each way lost."""

from __future__ import annotations

import json
import math
import pathlib
import statistics
from collections.abc import Sequence

import numpy as np
import texture_rounds as rounds
from matplotlib.figure import Figure
from texture_ways import NONE, SYNCHRONOUS, Run, Way

from tailrace.pictures import style

_MOST = 512  # pixels of a side that are shown
_COLORS = {"": "0.55", "thread": "#0072B2", "core": "#56B4E9"}
_HATCHES = {"blocking": "", "nonblocking": "////"}


def results(file: pathlib.Path) -> np.ndarray:
    """Returns the program's results as they lie in `file`: float32, (channels, filters, rows, columns)."""
    described = json.loads(file.with_name(file.name + ".json").read_text(encoding="ascii"))
    return np.memmap(file, described["dtype"], "r", shape=tuple(described["shape"]))


def draw_filters(image: np.ndarray, file: pathlib.Path, channel: int, out: pathlib.Path) -> None:
    """Draws one channel of an image (rows, columns), and what each filter answers to it, into `out`."""
    filters = json.loads(file.with_name(file.name + ".json").read_text(encoding="ascii"))["filters"]
    planes = results(file)[channel]
    across = len({one["angle"] for one in filters})
    down = math.ceil(len(filters) / across)
    part = tuple(_middle(size) for size in image.shape)
    with style.applied():
        figure = Figure(figsize=(2.1 * across + 4.6, 2.25 * down))
        grid = figure.add_gridspec(down, across + 2, width_ratios=[1.1, 1.1] + [1] * across)
        axes = figure.add_subplot(grid[:, :2])
        axes.imshow(image[part], cmap="gray")
        axes.set_title(f"channel {channel}, {image[part].shape[0]} × {image[part].shape[1]} pixels of its middle")
        axes.axis("off")
        for k, one in enumerate(filters):
            axes = figure.add_subplot(grid[k // across, 2 + k % across])
            axes.imshow(planes[k][part], cmap="magma", vmin=0, vmax=float(np.quantile(planes[k][part], 0.999)))
            axes.set_title(f"{one['wavelength']:g} pixels, {math.degrees(one['angle']):.0f}°", fontsize=8)
            axes.axis("off")
        figure.suptitle("Texture: magnitudes of Gabor filters")
        style.make_directory(out.parent)
        style.write(out, style.encode(figure, "png"))


def _middle(size: int) -> slice:
    shown = min(_MOST, size)
    return slice((size - shown) // 2, (size + shown) // 2)


def draw_lost(runs: dict[str, dict[Way, list[Run]]], out: pathlib.Path) -> None:
    """Draws the time that each way lost under each MPI into `out`: medians, least and most."""
    with style.applied():
        figure = Figure(figsize=(9, 1.2 + 0.28 * sum(map(len, runs.values()))))
        for axes, (mpi, of_mpi) in zip(np.atleast_1d(figure.subplots(len(runs), 1, sharex=True)), runs.items()):
            _draw_bars(axes, mpi, of_mpi)
        axes.set_xlabel("seconds longer than without output (median; whiskers: least and most)")
        figure.suptitle("Time lost to output")
        style.make_directory(out.parent)
        style.write(out, style.encode(figure, "png"))


def _draw_bars(axes, mpi: str, of_mpi: dict[Way, list[Run]]) -> None:
    shown: Sequence[Way] = [way for way in of_mpi if way != NONE]
    for place, way in enumerate(shown):
        seconds = rounds.lost(of_mpi, way)
        middle = statistics.median(seconds)
        axes.barh(place, middle, color=_COLORS[way.place], edgecolor="black", linewidth=0.5,
                  hatch=_HATCHES[way.output], xerr=[[middle - min(seconds)], [max(seconds) - middle]],
                  error_kw={"linewidth": 0.8})
        axes.annotate(f"{100 * rounds.ratio(of_mpi, way):.0f} %", (max(*seconds, 0.0), place), (4, 0),
                      textcoords="offset points", va="center", fontsize=8)
    limit = rounds.BAR * statistics.median(rounds.lost(of_mpi, SYNCHRONOUS))
    axes.axvline(limit, color="black", linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(shown)), [str(way) for way in shown])
    axes.invert_yaxis()
    axes.set_title(f"{mpi} (percentages of blocking alone; dashed: the bar, {100 * rounds.BAR:.0f} %)")
