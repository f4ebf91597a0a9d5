"""The picture of the wave: its extent, a section through it, and the sea at four times, from the output files alone.

Crest and trough differ in hue, and their contour lines are solid and dashed, so it is readable in black and white,
too. It reads with h5py, and knows only openPMD's names, nothing else of the writer.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

_FILM = 0.01  # m; thinner water is not drawn
_PANELS = 4
_POINTS = 500  # along a panel; more are not visible
_LAND = "0.78"


@dataclass(frozen=True)
class Surface:
    """The sea at one time, heights in metres; masked where it is dry."""

    time: float
    eta: np.ma.MaskedArray
    longitude: np.ndarray
    latitude: np.ndarray


def draw(file: pathlib.Path, report: dict[str, Any], source: tuple[float, float, float, float]) -> None:
    """Draws the run of `report` into `file`."""
    bed = np.load(report["bathymetry"])
    paths = report["files"]
    chosen = np.unique(np.linspace(0, len(paths) - 1, _PANELS).round().astype(int))
    surfaces = [_read(pathlib.Path(paths[k]), bed) for k in chosen]
    rows, columns = _window(surfaces)
    crest = max(float(np.abs(surface.eta[rows, columns]).max()) for surface in surfaces[1:] or surfaces)
    scale = max(_round_up(0.8 * crest), 0.01)

    figure = Figure(figsize=(13, 7.6), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1, 1.75))
    left, right = halves
    grid = left.add_gridspec(3, 1, height_ratios=(2.2, 1, 0.6))
    _draw_map(left.add_subplot(grid[0]), surfaces[-1], bed, rows, columns, source)
    section = left.add_subplot(grid[1])
    _draw_section(section, left.add_subplot(grid[2], sharex=section), surfaces, bed, rows, source)
    panels = list(right.subplots(2, 2, sharex=True, sharey=True).flat)
    images = [_draw_surface(axes, surface, bed, rows, columns, scale) for axes, surface in zip(panels, surfaces)]
    for axes in panels[len(surfaces):]:
        axes.set_axis_off()
    bar = right.colorbar(images[0], ax=panels, shrink=0.8, extend="both", pad=0.02)
    bar.set_label("height of the sea surface, m (contours: solid above rest, dashed below)")
    right.supxlabel("longitude, degrees", fontsize="medium")
    figure.suptitle("A wave in the Strait of Juan de Fuca, as tailrace wrote it", fontweight="bold")
    figure.savefig(file, dpi=110)


def _read(path: pathlib.Path, bed: np.ndarray) -> Surface:
    with h5py.File(path, "r") as opened:
        (group,) = opened["data"].values()  # one iteration in each file
        mesh = group["meshes/eta"]
        eta = mesh[...]
        dy, dx = mesh.attrs["gridSpacing"]
        y0, x0 = mesh.attrs["gridGlobalOffset"]
        time = float(group.attrs["time"] * group.attrs["timeUnitSI"])
    wet = eta - bed > _FILM
    return Surface(time, np.ma.masked_array(eta, ~wet), x0 + dx * np.arange(eta.shape[1]),
                   y0 + dy * np.arange(eta.shape[0]))


def _window(surfaces: list[Surface]) -> tuple[slice, slice]:
    """Returns rows and columns around everything that moves, with a margin."""
    moving = np.zeros(surfaces[0].eta.shape, bool)
    for surface in surfaces:
        # Only in the open sea: thin water that runs down a beach is not the wave.
        height = np.abs(surface.eta).filled(0)
        moving |= (height > 0.03 * height.max()) & (height < 100)
    bounds = []
    for axis in (1, 0):
        where = np.flatnonzero(moving.any(axis=axis))
        size = int(moving.shape[1 - axis])
        first, last = (int(where[0]), int(where[-1]) + 1) if where.size else (0, size)
        margin = max(4, (last - first) // 4)
        bounds.append(slice(max(0, first - margin), min(size, last + margin)))
    return bounds[0], bounds[1]


def _draw_map(axes: Axes, surface: Surface, bed: np.ndarray, rows: slice, columns: slice,
              source: tuple[float, float, float, float]) -> None:
    x, y = surface.longitude, surface.latitude
    step = max(1, bed.shape[1] // _POINTS)
    thin = (slice(None, None, step), slice(None, None, step))
    sea = np.ma.masked_greater(bed[thin], 0)
    axes.set_facecolor(_LAND)
    image = axes.pcolormesh(x[thin[1]], y[thin[0]], -sea, cmap="Blues", vmin=0, shading="nearest", rasterized=True)
    axes.contour(x[thin[1]], y[thin[0]], bed[thin], levels=[0], colors="black", linewidths=1.2)
    axes.add_patch(Rectangle((x[columns][0], y[rows][0]), np.ptp(x[columns]), np.ptp(y[rows]), fill=False,
                             linewidth=1.5, edgecolor="black", linestyle="--"))
    axes.plot(source[0], source[1], marker="*", markersize=13, color="white", markeredgecolor="black",
              linestyle="none", label=f"source: a hump of {source[3]:g} m")
    axes.plot([], [], color="black", linewidth=1.5, linestyle="--", label="the four pictures")
    axes.legend(loc="upper right", fontsize="small")
    axes.set_xlabel("longitude, degrees")
    axes.set_ylabel("latitude, degrees")
    _like_a_map(axes, y)
    axes.figure.colorbar(image, ax=axes, label="depth, m", shrink=0.65)


def _draw_section(above: Axes, below: Axes, surfaces: list[Surface], bed: np.ndarray, rows: slice,
                  source: tuple[float, float, float, float]) -> None:
    """Draws a section from south to north through the source: the surface above, the floor of the sea below."""
    column = int(np.abs(surfaces[0].longitude - source[0]).argmin())
    latitude = surfaces[0].latitude[rows]
    styles = [("0.6", "-", 1.2), ("0.4", ":", 1.6), ("0.2", "--", 1.3), ("black", "-", 1.6)]
    for surface, (color, style, width) in zip(surfaces, styles):
        above.plot(latitude, surface.eta[rows, column], color=color, linestyle=style, linewidth=width,
                   label=f"{surface.time:.0f} s")
    above.set_ylabel("surface, m")
    above.legend(fontsize="small", frameon=False)
    above.tick_params(labelbottom=False)
    floor = bed[rows, column]
    below.fill_between(latitude, floor, min(0.0, float(floor.min())) * 1.05, color=_LAND, linewidth=0)
    below.plot(latitude, floor, color="black", linewidth=1.2)
    below.axhline(0, color="black", linewidth=0.5)
    below.set_ylim(min(0.0, float(floor.min())) * 1.05, 50)
    below.set_ylabel("floor, m")
    below.set_xlabel(f"latitude, degrees; section at {-source[0]:.2f}° W through the source")
    below.ticklabel_format(useOffset=False)


def _draw_surface(axes: Axes, surface: Surface, bed: np.ndarray, rows: slice, columns: slice, scale: float) -> Any:
    step = max(1, (columns.stop - columns.start) // _POINTS)
    thin = (slice(rows.start, rows.stop, step), slice(columns.start, columns.stop, step))
    x, y, eta = surface.longitude[thin[1]], surface.latitude[thin[0]], surface.eta[thin]
    axes.set_facecolor(_LAND)
    image = axes.pcolormesh(x, y, eta, cmap="RdBu_r", vmin=-scale, vmax=scale, shading="nearest", rasterized=True)
    levels = scale * np.array([-0.6, -0.2, 0.2, 0.6])
    axes.contour(x, y, eta, levels=levels, colors="black", linewidths=0.6,
                 linestyles=["dashed", "dashed", "solid", "solid"])
    depths = axes.contour(x, y, bed[thin], levels=[-200, -150, -100, -50], colors="0.45", linewidths=0.5,
                          linestyles="dotted")
    axes.clabel(depths, fmt=lambda depth: f"{-depth:.0f} m", fontsize=7)
    axes.contour(x, y, bed[thin], levels=[0], colors="black", linewidths=1.6)
    axes.set_title(f"{surface.time:.0f} s", fontsize="medium")
    axes.tick_params(labelsize="small")
    _like_a_map(axes, y)
    return image


def _like_a_map(axes: Axes, latitude: np.ndarray) -> None:
    axes.ticklabel_format(useOffset=False)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    # A degree of longitude is shorter than one of latitude.
    axes.set_aspect(1 / np.cos(np.radians(latitude.mean())))


def _round_up(value: float) -> float:
    """Rounds to 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * next(step for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)))
