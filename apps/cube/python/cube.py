"""Performance profiles in the format Cube 4 (.cubex), as Score-P and Scalasca write them, as NumPy arrays.

    profile = tailrace.cube.open("profile.cubex")
    time = profile.values("time", inclusive=True)       # call paths × locations
    by_region = profile.frame("time").groupby("region")["time"].sum()

Derived metrics are computed (docs/formats/cubepl.md). Rows are read from the file when they are needed.
"""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Sequence
from typing import Any

import numpy

import tailrace

from . import programs
from .quantity import counted

try:
    from . import _cube
except ImportError:  # built without it
    _cube = None

PROGRAM = "tailrace-cube"


class CubeError(tailrace.Error, ValueError):
    """A profile or a specification that is wrong: names the file, the member or the metric."""


class Profile:
    """A profile that is open for reading; made by open(). Any thread may use it; one at a time computes."""

    def __init__(self, path: str | os.PathLike[str]):
        if _cube is None:
            raise tailrace.Error("this installation has no reader of Cube profiles (tailrace._cube)")
        self._path = os.fspath(path)
        try:
            self._open = _cube.Open(self._path)
        except _cube.Error as error:
            raise CubeError(str(error)) from None
        if self._open.warning():
            warnings.warn(self._open.warning(), stacklevel=3)
        self._metrics = {metric["name"]: metric for metric in self._open.metrics()}

    def __repr__(self) -> str:
        return (f"<tailrace.cube.Profile {self._path!r}: {counted(len(self.metrics), 'metric')}, "
                f"{counted(len(self.call_paths), 'call path')}, {counted(len(self.locations), 'location')}>")

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """The metrics by their unique names: `kind`, `dtype`, `unit`, `display_name`, `description`, `parent` (the
        number of a metric, in this order) and `expression`."""
        return self._metrics

    @property
    def call_paths(self) -> list[dict[str, Any]]:
        """The call paths in preorder: `id`, `parent` (a number in this list), `region`, `paradigm`, `role`, `module`
        and `parameters`."""
        return list(self._open.call_paths())

    @property
    def locations(self) -> list[dict[str, Any]]:
        """The locations, such as threads: `id`, `name`, `rank`, `type`, `process` (its rank), `process_name` and
        `node`."""
        return list(self._open.locations())

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes of the profile."""
        return dict(self._open.attributes())

    def values(self, metric: str, inclusive: bool = False) -> numpy.ndarray:
        """Returns the values of a metric, in its unit: an array of float64, call paths × locations. It belongs to the
        caller. Integers above 2^53 are rounded (`tailrace cube dump` prints them as they are). Exclusive values are
        those of a call path alone; inclusive ones have those of the call paths below it. Raises KeyError for an
        unknown metric, and CubeError."""
        try:
            return self._open.values(metric, inclusive)
        except KeyError:
            known = ", ".join(self._metrics)
            raise KeyError(f"{self._path}: there is no metric {metric!r}; there are {known}") from None
        except _cube.Error as error:
            raise CubeError(str(error)) from None

    def frame(self, *metrics: str, inclusive: bool = False) -> Any:
        """Returns a pandas.DataFrame with one row for each call path and location, and one column for each metric
        (default: all). Needs pandas."""
        import pandas  # only here

        paths, locations = self.call_paths, self.locations
        columns: dict[str, Any] = {
            "call_path": numpy.repeat([path["id"] for path in paths], len(locations)),
            "region": numpy.repeat([path["region"] for path in paths], len(locations)),
            "process": numpy.tile([each["process"] for each in locations], len(paths)),
            "location": numpy.tile([each["id"] for each in locations], len(paths))}
        for metric in metrics or tuple(self._metrics):
            columns[metric] = self.values(metric, inclusive).ravel()
        return pandas.DataFrame(columns)


def open(path: str | os.PathLike[str]) -> Profile:
    """Opens a profile. Raises CubeError if it is none, or is damaged."""
    return Profile(path)


def remap(source: str | os.PathLike[str], target: str | os.PathLike[str],
          specification: str | os.PathLike[str] | None = None, identity: bool = False,
          options: Sequence[str] = ()) -> None:
    """Writes a profile with the metrics of a specification (default: that of the profile), as `tailrace cube remap`
    does. Raises CubeError."""
    words = [*(["-r", os.fspath(specification)] if specification is not None else []),
             *(["--identity"] if identity else []), *options, os.fspath(source), os.fspath(target)]
    done = subprocess.run([program(), "remap", "--quiet", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CubeError(done.stderr.strip().removeprefix("tailrace cube: "))


def program() -> str:
    """Returns the path of the program tailrace-cube: beside the package's library, else on PATH."""
    found = programs.find(PROGRAM)
    if found is None:
        raise tailrace.Error(f"the program {PROGRAM} is neither beside the package ({programs.FOLDER}) nor on PATH")
    return found
