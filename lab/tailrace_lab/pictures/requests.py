"""The study of small requests (`tailrace bench small --json`): a panel of bars for each pattern, a row for each way.

The bars are the time until all data were on the device, divided by that with the compactor off, from the least to the
most of the runs.
"""

from __future__ import annotations

import pathlib
from typing import Any

from matplotlib.figure import Figure
from tailrace.pictures.fault import PictureError

from ..bench.small_patterns import OFF, PWRITE, TITLES
from . import bars
from .numbers import Value

Study = dict[str, Any]

_TIMES = ("median", "least", "most")


def check(path: pathlib.Path, document: Study) -> Study:
    """Raises PictureError unless it has this version and can be drawn."""
    if document["tailrace_small"] != 1:
        raise PictureError(path, f"tailrace_small: found {document['tailrace_small']!r}, expected 1: the file is of "
                                 "another version of the format")
    cells = document.get("cells")
    if not isinstance(cells, list) or not cells:
        raise PictureError(path, f"cells: found {cells!r}, expected a list of some")
    for number, cell in enumerate(cells):
        for key in _TIMES:
            value = cell.get(key) if isinstance(cell, dict) else None
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e200:
                raise PictureError(path, f"cells[{number}].{key}: found {value!r}, expected a number above 0")
        if cell.get("pattern") not in TITLES:
            raise PictureError(path, f"cells[{number}].pattern: found {cell.get('pattern')!r}, expected one of "
                                     f"{', '.join(TITLES)}")
        if not isinstance(cell.get("way"), str):
            raise PictureError(path, f"cells[{number}].way: found {cell.get('way')!r}, expected a text")
    for name in _patterns(document):
        if OFF not in _ways(document, name):
            raise PictureError(path, f"cells: found no '{OFF}' of {name}, which the others are compared with")
    return document


def draw(study: Study) -> Figure:
    """Draws two panels side by side, each with its own scale."""
    names = _patterns(study)
    rows = (len(names) + 1) // 2
    longest = max(len(_ways(study, name)) for name in names)
    figure = Figure(figsize=(11.0, rows * (1.1 + 0.32 * longest) + 0.6))
    grid: Any = figure.subplots(rows, 2, squeeze=False)
    for axes, name in zip(grid.flat, names):
        bars.draw(axes, _bars(study, name), f"time / {OFF}", mark=1.0)
        axes.set_title(TITLES[name], fontweight="bold")
    for axes in grid.flat[len(names):]:
        axes.set_visible(False)
    figure.suptitle(f"Small requests: until all is on the device (dashed: {OFF})")
    return figure


def alt(study: Study) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    said = []
    for name in _patterns(study):
        rows = [f"{bar.name} {bar.value.median:.2f}" for bar in _bars(study, name) if bar.value]
        said.append(f"{TITLES[name]}: " + ", ".join(rows))
    return f"Bars of time by that with the {OFF}, for each way to write; " + "; ".join(said) + "."


def sentences(study: Study) -> list[str]:
    """Says which bars were kept, and what was not measured."""
    found = []
    for bar in _list(study, "bars"):
        if bar.get("bar") is not None:
            found.append(f"{bar.get('name')}: {bar.get('median')}, expected at most {bar.get('bar')}: "
                         f"{'kept' if bar.get('met') else 'missed'}.")
    return found + [f"Not measured: {one.get('what')}: {one.get('why')}." for one in _list(study, "missing")]


def _patterns(study: Study) -> list[str]:
    return list(dict.fromkeys(cell["pattern"] for cell in study["cells"]))


def _ways(study: Study, name: str) -> dict[str, dict[str, Any]]:
    return {cell["way"]: cell for cell in study["cells"] if cell["pattern"] == name}


def _bars(study: Study, name: str) -> list[bars.Bar]:
    ways = _ways(study, name)
    off = ways[OFF]["median"]
    return [bars.Bar(way, _value(cell).times(1 / off), way != PWRITE and "ranks" not in way)
            for way, cell in ways.items()]


def _value(cell: dict[str, Any]) -> Value:
    return Value(cell["median"], cell["least"], cell["most"], cell["least"], cell["most"])


def _list(study: Study, key: str) -> list[dict[str, Any]]:
    found = study.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
