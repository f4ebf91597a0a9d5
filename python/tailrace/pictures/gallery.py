"""Chooses the pictures of files by their content, or draws one kind if requested.

Traces of one process, the program's and the library's, become one timeline; every other file gives its own pictures.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from . import ablation, busy, curve, numbers, peers, requests, schedulers, sizes, style, tiles, timeline, trace
from .fault import PictureError
from .source import Source

KINDS = ("curve", "tiles", "timeline", "ablation", "peers", "busy", "requests", "schedulers", "sizes")
_NEEDS = {"curve": 'a result file with "points"', "tiles": "a file of per-process write times", "timeline": "a trace",
          "ablation": 'a result file with "ablation"', "peers": 'a result file with "points"',
          "busy": "statistics of tailrace, of two iterations at least",
          "requests": "a result of `tailrace bench small`",
          "schedulers": "a result of `tailrace bench forward --schedulers`",
          "sizes": "statistics of tailrace, with requests for files"}
# The pictures of a kind of file, whatever its content.
_KIND_OF = {"times": "tiles", "requests": "requests", "schedulers": "schedulers"}


@dataclass(frozen=True)
class Picture:
    """One drawn picture."""

    kind: str
    stem: str  # of its file
    figure: Figure
    alt: str


@dataclass(frozen=True)
class Window:
    """The seconds of a trace to draw; None: as many as fit."""

    begin: float | None = None
    end: float | None = None


def draw(sources: Sequence[Source], kind: str = "auto", window: Window = Window()) -> list[Picture]:
    """Returns all pictures of the files; only those of `kind`, unless that is "auto"."""
    pictures = []
    for group in together(sources):
        source = group[0]
        if source.kind == "trace":
            _require(source, ["timeline"], kind)
            pictures.append(_timeline(group, window))
            continue
        pictures += [_draw(source, one) for one in _require(source, _kinds(source), kind)]
    return pictures


def _kinds(source: Source) -> list[str]:
    if source.kind in _KIND_OF:
        return [_KIND_OF[source.kind]]
    if source.kind != "statistics":
        return kinds_of(source.data)
    # Merging in files of iterations is drawn on request only.
    raw = any(one.kind != "iterations" for one in sizes.shown(source.data.files))
    return [*(["busy"] if source.data.passed else []), *(["sizes"] if raw else [])]


def together(sources: Sequence[Source]) -> list[list[Source]]:
    """Groups the files: traces of one process together, all others alone."""
    groups: dict[object, list[Source]] = {}
    for number, source in enumerate(sources):
        process = trace.process(source.data) if source.kind == "trace" else None
        groups.setdefault(("file", number) if process is None else ("process", process), []).append(source)
    return list(groups.values())


def kinds_of(result: numbers.Result) -> list[str]:
    """Returns the pictures of a result file by default."""
    points = result.get("points") or []
    rungs = ["ablation"] if result.get("ablation") else []
    if not points or (rungs and not set(numbers.writers(result)) - {"sync"}):
        return rungs
    # One point is no curve.
    sweep = result["kind"] == "pattern" and len(points) > 1
    return ["curve" if sweep else "peers", *rungs]


def _require(source: Source, kinds: list[str], kind: str) -> list[str]:
    """Returns the kinds to draw; raises an error if the file has no data for the requested one."""
    if kind == "auto":
        if not kinds:
            raise PictureError(source.path, "no points and no ablation in it: nothing to draw; expected a result "
                                            "with "
                                            '"points"')
        return kinds
    # Points can be drawn either way on request.
    possible = {*kinds, *(("curve", "peers") if source.kind == "result" and source.data.get("points") else ()),
                *(("sizes",) if source.kind == "statistics" and sizes.shown(source.data.files) else ())}
    if kind not in possible:
        found = {"result": "a result file", "trace": "a trace", "times": "write times",
                 "statistics": "statistics", "requests": "a study of small requests",
                 "schedulers": "a study of schedulers"}[source.kind]
        can = f" (it gives {', '.join(sorted(possible))})" if possible else ""
        raise PictureError(source.path, f"no data for {kind}: found {found}{can}; expected {_NEEDS[kind]}")
    return [kind]


def _timeline(traces: Sequence[Source], window: Window) -> Picture:
    run = trace.read([(source.path, source.data) for source in traces])
    with style.applied():
        figure = timeline.draw(run, window.begin, window.end)
        if any(source.quick for source in traces):
            style.watermark(figure)
    return Picture("timeline", _stem(traces[0].path), figure, timeline.alt(run))


def _draw(source: Source, kind: str) -> Picture:
    with style.applied():
        picture = _drawn(source, kind)
        if source.quick:
            style.watermark(picture.figure)
        return picture


def _drawn(source: Source, kind: str) -> Picture:
    if kind == "tiles":
        return Picture(kind, _stem(source.path), tiles.draw(source.data), tiles.alt(source.data))
    if kind == "busy":
        return Picture(kind, _stem(source.path), busy.draw(source.data), busy.alt(source.data))
    if kind == "sizes":
        run = source.data
        return Picture(kind, _stem(source.path), sizes.draw(run.name, run.files), sizes.alt(run.files))
    drawer = {"curve": curve, "ablation": ablation, "peers": peers, "requests": requests,
              "schedulers": schedulers}[kind]
    return Picture(kind, _stem(source.path), drawer.draw(source.data), drawer.alt(source.data))


def _stem(path: pathlib.Path) -> str:
    """sim_c0.trace.json → sim_c0."""
    return path.name.split(".")[0] or path.stem
