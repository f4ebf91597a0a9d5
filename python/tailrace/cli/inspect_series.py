"""What the files of a directory hold together: each series' variables, and its first and last time.

Looks at the first and the last iteration of a series alone: a series may have a million files. Reads openPMD files
of any writer; prints nothing.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailrace import plain_files, striped
from tailrace._scales import is_scale

MOST_SERIES = 200  # whose files are opened; series of more clients are alike
_WHOSE = re.compile(r"_[cn]\d+$")


def describe(files: Mapping[str, Mapping[int, pathlib.Path]], series: Sequence[dict[str, Any]]) -> None:
    """Adds to each series `first` and `last` (of its iterations, with their time in seconds, if it is known) and
    `variables`: name, type, shape, and unit, of the last iteration that has them."""
    for one in series[:MOST_SERIES]:
        iterations = sorted(one["iterations"])
        known: dict[str, Any] = {}
        for end, number in (("first", iterations[0]), ("last", iterations[-1])):
            found = _of(files[one["name"]][number], number)
            known.update({variable["name"]: variable for variable in found.pop("variables", [])})
            one[end] = found
        one["variables"] = list(known.values())


def describe_plain(files: Mapping[int, pathlib.Path], series: dict[str, Any]) -> None:
    """Does the same for a series of the format plain."""
    import h5py  # here, since it imports slowly and other commands do not need it

    known: dict[str, Any] = {}
    for end, number in (("first", min(files)), ("last", max(files))):
        series[end] = {"iteration": number, "time": None}
        try:
            with striped.readable(files[number]) as source, h5py.File(source, "r") as opened:
                series[end]["time"] = float(opened.attrs["time"] * opened.attrs["timeUnitSI"])
                known.update({name: _variable(name, part) for name, part in plain_files.datasets(opened)})
        except (OSError, RuntimeError, KeyError, striped.Malformed):
            continue  # `tailrace inspect FILE` says why
    series["variables"] = list(known.values())


def variables(series: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Returns the variables of all clients and nodes together: the common name of the series, and each variable with
    its shape, or none where that is not the same everywhere."""
    together: dict[str, dict[str, dict[str, Any]]] = {}
    for one in series:
        known = together.setdefault(_WHOSE.sub("", one["name"]), {})
        for variable in one.get("variables", []):
            other = known.setdefault(variable["name"], dict(variable))
            if other["shape"] != variable["shape"]:
                other["shape"] = None
    for name, known in together.items():
        yield name, list(known.values())


def _of(path: pathlib.Path, number: int) -> dict[str, Any]:
    """Returns an iteration of a file; without time and variables if it cannot be read: `tailrace inspect FILE` says
    why."""
    import h5py  # here, since it imports slowly and other commands do not need it

    try:
        with striped.readable(path) as source, h5py.File(source, "r") as opened:
            return _iteration(number, opened[f"data/{number}"])
    except (OSError, RuntimeError, KeyError, ValueError, striped.Malformed):
        return {"iteration": number, "time": None}


def _iteration(number: int, group: Any) -> dict[str, Any]:
    time = group.attrs.get("time")
    seconds = None if time is None else float(time * group.attrs.get("timeUnitSI", 1.0))
    return {"iteration": number, "time": seconds,
            "variables": [_variable(name, part) for name, part, _ in parts(group)]}


def parts(iteration: Any) -> Iterator[tuple[str, Any, Any]]:
    """Returns the meshes and the records of particles in an iteration: name, dataset (or group, of a constant), and
    the record that has it: itself, or that of the vector. A vector has one of each component: "E/x"."""
    for name, mesh in iteration.get("meshes", {}).items():
        if not is_scale(mesh):
            yield from _components(name, mesh)
    for species, records in iteration.get("particles", {}).items():
        for name, record in records.items():
            if name not in ("particlePatches", "positionOffset"):
                yield from _components(f"{species}/{name}", record)


def _components(name: str, record: Any) -> Iterator[tuple[str, Any, Any]]:
    if hasattr(record, "items") and "value" not in record.attrs:
        for component, part in record.items():
            yield f"{name}/{component}", part, record
    else:
        yield name, record, record


def _variable(name: str, part: Any) -> dict[str, Any]:
    dtype = getattr(part, "dtype", None)
    extents = getattr(part, "shape", None)
    if extents is None:  # a constant has no dataset
        extents = part.attrs.get("shape", ())
    unit = part.attrs.get("unit", "")
    return {"name": name, "dtype": "constant" if dtype is None else str(dtype),
            "shape": [int(one) for one in extents],
            "unit": unit.decode("utf-8", "replace") if isinstance(unit, bytes) else str(unit)}
