"""Pictures of the pitzDaily case: of its flow, from the files that were written, and of what output costs.

Reads OpenFOAM's own files, ascii, by themselves: the last time's U, and the mesh.
"""

from __future__ import annotations

import pathlib
import re
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402


def draw_flow(case: pathlib.Path, time: str, out: pathlib.Path) -> None:
    """Draws the magnitude of the velocity in a plane."""
    centres = _cell_centres(case / "constant/polyMesh")
    velocity = _list(case / time / "U", 3)
    figure, axes = plt.subplots(figsize=(11, 2.6), layout="constrained")
    shown = axes.tripcolor(centres[:, 0] * 1000, centres[:, 1] * 1000, np.linalg.norm(velocity, axis=1),
                           triangles=_triangles(centres), shading="flat", cmap="viridis", rasterized=True)
    axes.set(aspect="equal", xlabel="x, mm", ylabel="y, mm", title=f"pitzDaily, magnitude of U after {time} s")
    figure.colorbar(shown, label="m/s")
    figure.savefig(out, dpi=150)
    plt.close(figure)


def draw_times(document: dict[str, Any], out: pathlib.Path) -> None:
    """Draws a bar for each way: the solver without output, and what it loses to output."""
    studies = document["studies"]
    figure, row = plt.subplots(1, len(studies), figsize=(1 + 5 * len(studies), 3.4), layout="constrained",
                               squeeze=False)
    for axes, study in zip(row[0], studies):
        ways = list(study["ways"])
        alone = study["ways"][ways[0]]["total"]
        lost = [study["ways"][way]["total"] - alone for way in ways]
        axes.barh(ways, [alone] * len(ways), color="#CFE6F5", edgecolor="#5B7C90", label="computing")
        axes.barh(ways, np.maximum(lost, 0), left=alone, color="#A03B00", label="lost to output")
        axes.invert_yaxis()
        axes.set(xlabel="seconds", title=f"output is {study['share']:.0%} of {ways[1]}'s time")
    figure.legend(*row[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(out, dpi=150)
    plt.close(figure)


def _list(path: pathlib.Path, width: int) -> np.ndarray:
    """Reads the list of a field's internal values, or of points."""
    text = path.read_text()
    found = re.search(r"^(\d+)\s*\n\(", text, flags=re.MULTILINE)
    if found is None:
        raise ValueError(f"{path}: expected a list in ascii, found none")
    count = int(found[1])
    end = text.index("\n)", found.end())
    numbers = np.array(text[found.end():end].replace("(", " ").replace(")", " ").split(), dtype=float)
    return numbers.reshape(count, width)


def _cell_centres(mesh: pathlib.Path) -> np.ndarray:
    """Returns the mean of each cell's points, weighted by how many of its faces have them."""
    points = _list(mesh / "points", 3)
    faces = [[int(one) for one in face.split()]
             for face in re.findall(r"^4\(([\d ]+)\)$", (mesh / "faces").read_text(), flags=re.MULTILINE)]
    middles = points[np.array(faces)].mean(axis=1)
    owner, neighbour = (_list(mesh / name, 1).astype(int).ravel() for name in ("owner", "neighbour"))
    cells = int(owner.max()) + 1
    sums, counts = np.zeros((cells, 3)), np.zeros(cells)
    for cell, middle in ((owner, middles), (neighbour, middles[: len(neighbour)])):
        np.add.at(sums, cell, middle)
        np.add.at(counts, cell, 1)
    return sums / counts[:, None]


def _triangles(centres: np.ndarray) -> np.ndarray:
    """Returns triangles between neighbouring cells, without those that span the step's corner."""
    from matplotlib.tri import Triangulation

    triangles = Triangulation(centres[:, 0], centres[:, 1]).triangles
    middles = centres[triangles].mean(axis=1)
    solid = (middles[:, 0] < 0) & (middles[:, 1] < 0)
    corners = centres[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    return triangles[~solid & (longest < 20 * np.median(longest))]
