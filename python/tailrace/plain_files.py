"""Files of the format `plain` (docs/formats/output.md): their series in a directory.

The program chooses their names, so they are known by what they contain: tailrace's attributes, and nothing of
openPMD.
"""

from __future__ import annotations

import pathlib
import re
from typing import Any

from . import striped

_ITERATION = re.compile(r"_It(\d+)")  # as Damaris names its files
_NUMBER = re.compile(r"\d+")


def is_plain(opened: Any) -> bool:
    """Returns whether an open HDF5 file is one of this format."""
    return "timeUnitSI" in opened.attrs and "time" in opened.attrs and "openPMD" not in opened.attrs


def number_in(name: str) -> tuple[str, int] | None:
    """Returns the pattern of a file's name, and the number of its iteration: that behind `_It`, or the last one."""
    stem = name[:-len(".h5")] if name.endswith(".h5") else name
    found = _ITERATION.search(stem) or next(reversed(list(_NUMBER.finditer(stem))), None)
    if found is None:
        return None
    begin, end = found.span(1) if found.re is _ITERATION else found.span()
    return f"{name[:begin]}{{iteration}}{name[end:]}", int(name[begin:end])


def find(directory: pathlib.Path) -> dict[str, dict[int, pathlib.Path]]:
    """Returns the files of each pattern, by iteration. One file of a pattern is looked at. Raises OSError if the
    directory cannot be read."""
    named: dict[str, dict[int, pathlib.Path]] = {}
    for file in directory.glob("*.h5"):
        if numbered := number_in(file.name):
            named.setdefault(numbered[0], {})[numbered[1]] = file
    return {pattern: dict(sorted(files.items())) for pattern, files in sorted(named.items())
            if _looks_plain(files[min(files)])}


def _looks_plain(file: pathlib.Path) -> bool:
    import h5py  # here, since it imports slowly

    try:
        with striped.readable(file) as source, h5py.File(source, "r") as opened:
            return is_plain(opened)
    except (OSError, RuntimeError, striped.Malformed):
        return False
