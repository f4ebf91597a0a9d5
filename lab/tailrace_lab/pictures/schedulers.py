"""The study of schedulers (`tailrace bench forward --schedulers --json`): bars of the time that each took, beside the
simulated study.

The bars are times divided by that without forwarding, with the interval of confidence of the mean.
"""

from __future__ import annotations

import pathlib
from typing import Any

from matplotlib.figure import Figure

from tailrace.pictures.fault import PictureError

from . import bars
from .numbers import Value

Study = dict[str, Any]

_NONE = "no forwarding"


def check(path: pathlib.Path, document: Study) -> Study:
    """Raises PictureError unless it has this version and can be drawn."""
    if document["tailrace_schedulers"] != 1:
        raise PictureError(path, f"tailrace_schedulers: found {document['tailrace_schedulers']!r}, expected 1: the "
                                 "file is of another version of the format")
    lines = document.get("lines")
    if not isinstance(lines, list) or not lines:
        raise PictureError(path, f"lines: found {lines!r}, expected a list of some")
    for number, line in enumerate(lines):
        for key, least in (("seconds", 1e-9), ("half_interval", 0.0)):
            value = line.get(key) if isinstance(line, dict) else None
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < 1e9:
                raise PictureError(path, f"lines[{number}].{key}: found {value!r}, expected a number above 0")
        if not isinstance(line.get("schedule"), str):
            raise PictureError(path, f"lines[{number}].schedule: found {line.get('schedule')!r}, expected a text")
    if _NONE not in [line["schedule"] for line in lines]:
        raise PictureError(path, f"lines: found no '{_NONE}', which the others are compared with")
    return document


def draw(study: Study) -> Figure:
    """Draws a panel of what was measured, and one of what the simulation gives."""
    simulated = all(line.get("simulated") for line in study["lines"])
    figure = Figure(figsize=(11.0 if simulated else 6.0, 1.4 + 0.34 * len(study["lines"])))
    panels: Any = figure.subplots(1, 2 if simulated else 1, squeeze=False)[0]
    bars.draw(panels[0], _measured(study), f"time / {_NONE}", mark=1.0)
    panels[0].set_title("real forwarders, modelled disks", fontweight="bold")
    if simulated:
        bars.draw(panels[1], _simulated(study), f"time / {_NONE}", mark=1.0, names=False)
        panels[1].set_title("simulated", fontweight="bold")
    verb = "write" if study.get("write") else "read"
    figure.suptitle(f"Schedulers of forwarders: {study.get('clients')} processes {verb} ({study.get('pattern')})")
    return figure


def alt(study: Study) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    rows = [f"{bar.name} {bar.value.median:.2f}" for bar in _measured(study) if bar.value]
    return f"Bars of time by that with {_NONE}, for each scheduler: {', '.join(rows)}."


def _of(study: Study, name: str, key: str) -> float:
    return float(next(line[key] for line in study["lines"] if line["schedule"] == name))


def _measured(study: Study) -> list[bars.Bar]:
    none = _of(study, _NONE, "seconds")
    return [_bar(line["schedule"], line["seconds"] / none, line["half_interval"] / none) for line in study["lines"]]


def _simulated(study: Study) -> list[bars.Bar]:
    none = _of(study, _NONE, "simulated")
    return [_bar(line["schedule"], line["simulated"] / none, 0.0) for line in study["lines"]]


def _bar(name: str, value: float, half: float) -> bars.Bar:
    low, high = max(value - half, 0.0), value + half
    return bars.Bar(name, Value(value, low, high, low, high), name != _NONE)
