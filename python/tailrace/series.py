"""Series of openPMD/HDF5 files as tailrace writes them: finds the files of a directory, and what is in them.

`find()` chooses a series; `Series` has its iterations in order. It opens a file for each question, and keeps none.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import series_files
from ._scales import is_scale, own_attributes

_PART = re.compile(r"(?P<name>.+)_(?P<whose>[cn])(?P<number>\d+)")


class NoSeries(ValueError):
    """Says why there is no series to read: what was found, where, and what was expected."""


@dataclass(frozen=True)
class Record:
    """A scalar mesh, a component of a vector mesh, or a component of a record of particles; from one file."""

    path: str  # below the iteration's group: "meshes/T", "meshes/E/x"
    shape: tuple[int, ...]
    dtype: Any
    attributes: dict[str, Any]  # of the record and the component together
    value: Any = None  # of a constant one

    @property
    def name(self) -> str:
        """Returns "T", or "E_x" for a component."""
        return "_".join(self.path.split("/")[1:])

    @property
    def axes(self) -> list[str]:
        return [_text(label) for label in self.attributes.get("axisLabels", ())]

    def coordinates(self, axis: int) -> Any:
        """Returns the positions of the elements along an axis, in the grid's unit."""
        import numpy as np

        spacing, offset = self.attributes["gridSpacing"][axis], self.attributes["gridGlobalOffset"][axis]
        position = self.attributes.get("position", [0.0] * len(self.shape))[axis]
        return offset + spacing * (np.arange(self.shape[axis]) + position)


@dataclass
class Series:
    """The files of a series: by iteration, in order."""

    name: str
    files: dict[int, pathlib.Path]
    _times: dict[int, float] = field(default_factory=dict)

    @property
    def iterations(self) -> list[int]:
        return list(self.files)

    @property
    def has_file_each(self) -> bool:
        """Returns True if each iteration has a file of its own."""
        return bool(self.attributes.get("iterationEncoding") != "groupBased")

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """Returns the attributes of the first file."""
        with self.open(self.iterations[0]) as file:
            return {name: plain(value) for name, value in file.attrs.items()}

    def open(self, iteration: int) -> Any:
        import h5py

        return h5py.File(self.files[iteration], "r")

    def attributes_of(self, iteration: int) -> dict[str, Any]:
        """Returns the attributes of an iteration, and those of its file."""
        with self.open(iteration) as file:
            found = {**file.attrs, **file[f"/data/{iteration}"].attrs}
            return {name: plain(value) for name, value in found.items()}

    def records(self, iteration: int, group: str = "meshes") -> dict[str, Record]:
        """Returns the records of an iteration by their paths; `group` may be "particles/electrons"."""
        with self.open(iteration) as file:
            root = file[f"/data/{iteration}"].get(group, {})
            return {record.path: record for name in root for record in _records(f"{group}/{name}", root[name], {})}

    def species(self, iteration: int) -> list[str]:
        with self.open(iteration) as file:
            return list(file[f"/data/{iteration}"].get("particles", {}))


def find(path: str | os.PathLike[str], name: str | None = None) -> Series:
    """Finds the series in a directory, or that of a file. Raises NoSeries if there is none, or more than one."""
    given = pathlib.Path(path)
    if given.is_dir():
        directory, only = given, name
    else:
        series_name = series_files.series_of(given.name)
        if not series_name or not given.is_file():
            raise NoSeries(f"{given}: found no directory and no file of an iteration, expected one, such as "
                           "out or out/sim_000000.h5")
        directory, only = given.parent, series_name
    found = series_files.find(directory)
    whole = {series: files for series, files in found.items()
             if (only in (None, series) if only is None or only in found else _PART.sub(r"\g<name>", series) == only)}
    if len(whole) > 1:
        joined = {series: files for series, files in whole.items() if not _PART.fullmatch(series)}
        whole = joined or whole
    if len(whole) != 1:
        listed = ", ".join(sorted(whole or found)[:8])
        hint = ("`tailrace join` presents the files of clients or nodes as one" if whole else
                "give its directory")
        raise NoSeries(f"{directory}: found {f'the series {listed}' if listed else 'no series'}, expected one"
                       f"{f' of the name {only}' if only else ''}; {hint}, or name one")
    series, files = whole.popitem()
    return Series(series, files)


def _records(path: str, found: Any, above: dict[str, Any]) -> Iterator[Record]:
    attributes = {**above, **own_attributes(found)}
    if path.endswith("/particlePatches") or is_scale(found):
        return
    if not hasattr(found, "items"):
        yield Record(path, found.shape, found.dtype, attributes)
    elif "value" in found.attrs and "shape" in found.attrs:
        shape = tuple(int(extent) for extent in found.attrs["shape"])
        yield Record(path, shape, found.attrs["value"].dtype, attributes, found.attrs["value"])
    else:
        for name, child in found.items():
            yield from _records(f"{path}/{name}", child, attributes)


def plain(value: Any) -> Any:
    """Returns an attribute's value as Python's own types have it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return [plain(one) for one in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
