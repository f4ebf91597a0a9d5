"""The files of the series in a directory, and the iterations in each.

A file has one iteration, the one of its name, or several (`storage.iterations_per_file`).
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable

from . import striped

_NUMBERED = re.compile(r"(?P<name>.+)_(?P<iteration>\d{6,})\.h5")
_SERIES = re.compile(r"(?P<name>.+)\.h5")


def series_of(file: str) -> str | None:
    """Returns the name of the series to which a file of this name may belong; None if it is no such name."""
    match = _NUMBERED.fullmatch(file) or _SERIES.fullmatch(file)
    return match["name"] if match else None


def find(directory: pathlib.Path, unreadable: Callable[[str], None] = lambda why: None,
         ) -> dict[str, dict[int, pathlib.Path]]:
    """Finds the series by their names, and for each the file of every iteration, in order. Passes over files of
    other programs. Calls `unreadable` with a text for each file that should have several iterations and cannot be
    read. Raises OSError if the directory cannot be read."""
    numbered: dict[str, dict[int, pathlib.Path]] = {}
    found: dict[str, dict[int, pathlib.Path]] = {}
    for file in sorted(directory.iterdir()):
        if match := _NUMBERED.fullmatch(file.name):
            numbered.setdefault(match["name"], {})[int(match["iteration"])] = file
        elif (match := _SERIES.fullmatch(file.name)) and file.is_file():
            inside = iterations_in(file)
            if inside:
                found[match["name"]] = dict.fromkeys(inside, file)
    for name, files in numbered.items():
        of_names = dict(sorted(files.items()))
        ends = [of_names[number] for number in {min(of_names), max(of_names)}]
        if all(iterations_in(file) is None for file in ends):  # do not open thousands
            found.setdefault(name, {}).update(of_names)
            continue
        for number, file in of_names.items():
            inside = _groups(file, several_only=False)
            if inside is None:
                unreadable(f"{file}: found no HDF5 file with iterations, expected one")
            found.setdefault(name, {}).update(dict.fromkeys([number] if inside is None else inside, file))
    return {name: dict(sorted(files.items())) for name, files in found.items()}


def iterations_in(file: pathlib.Path) -> list[int] | None:
    """Returns the iterations of a file that may have several (openPMD's groupBased); None for any other file."""
    return _groups(file, several_only=True)


def _groups(file: pathlib.Path, several_only: bool) -> list[int] | None:
    import h5py  # here, since it imports slowly

    try:
        with striped.readable(file) as source, h5py.File(source, "r") as opened:
            encoding = opened.attrs.get("iterationEncoding")
            several = (encoding.decode() if isinstance(encoding, bytes) else encoding) == "groupBased"
            return sorted(map(int, opened["data"])) if several or not several_only else None
    except (OSError, RuntimeError, KeyError, ValueError, striped.Malformed):
        return None
