"""Bathymetry for the demonstration, from data that its packages contain.

matplotlib's sample data have the Strait of Juan de Fuca (``topobathy.npz``); ``write_juan_de_fuca`` writes it as the
ESRI ASCII grid that ``tsunami --topo`` reads. Only the demonstration uses this; nothing is downloaded.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

__all__ = ["read_juan_de_fuca", "write_esri_grid", "write_juan_de_fuca"]


def read_juan_de_fuca() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns longitudes, latitudes (degrees, ascending) and heights (metres) as matplotlib has them."""
    from matplotlib import cbook

    with np.load(cbook.get_sample_data("topobathy.npz", asfileobj=False)) as data:
        return (
            np.asarray(data["longitude"], dtype=np.float64) - 360.0,
            np.asarray(data["latitude"], dtype=np.float64),
            np.asarray(data["topo"], dtype=np.float64),
        )


def write_esri_grid(
    path: str | os.PathLike[str], x: np.ndarray, y: np.ndarray, heights: np.ndarray, cell: float
) -> None:
    """Writes ``heights[len(y), len(x)]`` to ``path``, resampled bilinearly to square cells of ``cell`` degrees.

    ``x`` and ``y`` are ascending, but need not be evenly spaced.
    """
    if heights.shape != (len(y), len(x)):
        raise ValueError(f"found heights of shape {heights.shape}, expected {(len(y), len(x))}")
    new_x = np.arange(x[0], x[-1] + 1e-9 * cell, cell)
    new_y = np.arange(y[0], y[-1] + 1e-9 * cell, cell)
    # One axis after the other: bilinear interpolation is the product of the two.
    along = np.stack([np.interp(new_x, x, row) for row in heights])
    grid = np.stack([np.interp(new_y, y, column) for column in along.T], axis=1)
    header = (
        f"ncols {len(new_x)}\nnrows {len(new_y)}\n"
        f"xllcenter {float(new_x[0])!r}\nyllcenter {float(new_y[0])!r}\ncellsize {float(cell)!r}\n"
    )
    with open(path, "w", encoding="ascii") as out:
        out.write(header)
        np.savetxt(out, grid[::-1], fmt="%.2f")


def write_juan_de_fuca(path: str | os.PathLike[str], cell: float = 1 / 45) -> Path:
    """Writes the Strait of Juan de Fuca, 126 W to 122 W by 48 N to 50 N, to ``path`` and returns it."""
    longitude, latitude, heights = read_juan_de_fuca()
    write_esri_grid(path, longitude, latitude, heights, cell)
    return Path(path)
