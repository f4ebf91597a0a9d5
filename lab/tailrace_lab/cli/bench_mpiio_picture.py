"""Draws the results of `tailrace bench mpiio`: a panel of bars for each pattern, a row for each way.

The bars are the time until all data were on the device, from the least to the most of the runs; for `computing`, the
share of the writes that was hidden.
"""

from __future__ import annotations

import pathlib
from typing import Any

from matplotlib.figure import Figure
from tailrace.pictures import style

from ..bench.mpiio_patterns import COMPUTING, TITLES
from ..pictures import bars
from ..pictures.numbers import Value


def save(document: dict[str, Any], path: pathlib.Path) -> None:
    """Draws a document of tailrace_lab.bench.mpiio into a file .png or .svg; raises PictureError."""
    with style.applied():
        figure = draw(document)
        if document.get("quick"):
            style.watermark(figure)
    style.write(path, style.encode(figure, path.suffix[1:].lower()))


def draw(document: dict[str, Any]) -> Figure:
    """Draws two panels side by side, each with its own scale."""
    cells = document["cells"]
    names = list(dict.fromkeys(cell["pattern"] for cell in cells))
    panels = {name: _bars([cell for cell in cells if cell["pattern"] == name]) for name in names}
    rows = (len(names) + 1) // 2
    longest = max(len(panel) for panel in panels.values())
    figure = Figure(figsize=(13.0, rows * (1.1 + 0.24 * longest) + 0.6))
    grid: Any = figure.subplots(rows, 2, squeeze=False)
    for axes, name in zip(grid.flat, names):
        computing = name in COMPUTING
        bars.draw(axes, panels[name], "hidden, %" if computing else "seconds", mark=100.0 if computing else None,
                  form="{:.0f}" if computing else "{:.3g}")
        axes.set_title(f"{name}: {TITLES[name]}", fontweight="bold")
    for axes in grid.flat[len(names):]:
        axes.set_visible(False)
    figure.suptitle("MPI-IO: until all is on the device")
    return figure


def _bars(cells: list[dict[str, Any]]) -> list[bars.Bar]:
    """Returns the rows of a pattern; of one that computes, those runs alone."""
    computing = [cell for cell in cells if cell["computes"]]
    if computing:
        return [bars.Bar(f"{cell['way']}: {cell['call']}", _exactly(100 * cell["hidden"]), bool(cell["place"]))
                for cell in computing]
    return [bars.Bar(cell["way"], Value(cell["median"], cell["least"], cell["most"], cell["least"], cell["most"]),
                     bool(cell["place"])) for cell in cells]


def _exactly(value: float) -> Value:
    return Value(value, value, value, value, value)
