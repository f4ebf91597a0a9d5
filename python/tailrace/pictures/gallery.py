"""Makes the pictures of files: those that their kinds draw, or the one that is asked for."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from . import style
from .fault import PictureError
from .kind import Window
from .source import Source, kinds


@dataclass(frozen=True)
class Picture:
    """One drawn picture."""

    kind: str
    stem: str  # of its file
    figure: Figure
    alt: str


def draw(sources: Sequence[Source], kind: str = "auto", window: Window = Window()) -> list[Picture]:
    """Returns all pictures of the files; only those of `kind`, unless that is "auto"."""
    return [_draw(group, one, window) for group in together(sources) for one in _names(group[0], kind)]


def together(sources: Sequence[Source]) -> list[list[Source]]:
    """Groups the files: those of one picture together, such as traces of one process, all others alone."""
    groups: dict[object, list[Source]] = {}
    for number, source in enumerate(sources):
        key = source.kind.group(source.data)
        groups.setdefault(("file", number) if key is None else (source.kind, key), []).append(source)
    return list(groups.values())


def _names(source: Source, name: str) -> list[str]:
    """Returns the names of the pictures to draw; raises an error if the file has no data for the requested one."""
    if name == "auto":
        names = source.kind.default(source.data)
        if not names:
            raise PictureError(source.path, "no points and no ablation in it: nothing to draw; expected a result "
                                            "with "
                                            '"points"')
        return names
    possible = source.kind.possible(source.data)
    if name not in possible:
        can = f" (it gives {', '.join(sorted(possible))})" if possible else ""
        needs = next((kind.needs[name] for kind in kinds() if name in kind.needs), "another file")
        raise PictureError(source.path, f"no data for {name}: found {source.kind.found}{can}; expected {needs}")
    return [name]


def _draw(group: Sequence[Source], name: str, window: Window) -> Picture:
    with style.applied():
        figure, alt = group[0].kind.draw(name, [(source.path, source.data) for source in group], window)
        if any(source.quick for source in group):
            style.watermark(figure)
    return Picture(name, _stem(group[0].path), figure, alt)


def _stem(path: pathlib.Path) -> str:
    """sim_c0.trace.json → sim_c0."""
    return path.name.split(".")[0] or path.stem
