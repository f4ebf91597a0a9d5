"""What the files of a directory hold together: each series' variables, and its first and last time.

Looks at a few iterations of a series, evenly spread: a series may have a million files. Reads openPMD files of any
writer; prints nothing.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tailrace import plain_files, striped
from tailrace._scales import is_scale

MOST_SERIES = 200  # whose files are opened; series of more clients are alike
MOST_ITERATIONS = 12  # of a series
_WHOSE = re.compile(r"_[cn]\d+$")


def describe(files: Mapping[str, Mapping[int, pathlib.Path]], series: Sequence[dict[str, Any]]) -> None:
    """Adds to each series `first` and `last` (of its iterations, with their time in seconds, if it is known) and
    `variables`: name, type, shape (none if it is not always the same), and unit, of the last iteration that has
    them."""
    for one in series[:MOST_SERIES]:
        known: dict[str, Any] = {}
        looked_at = [_of(files[one["name"]][number], number)
                     for number in evenly_spread(sorted(one["iterations"]), MOST_ITERATIONS)]
        for found in looked_at:
            _add(known, found.pop("variables", []))
        one["first"], one["last"] = looked_at[0], looked_at[-1]
        one["variables"] = list(known.values())


def _add(known: dict[str, Any], variables: Iterable[dict[str, Any]]) -> None:
    for variable in variables:
        before = known.get(variable["name"], variable)
        known[variable["name"]] = variable | {
            "shape": variable["shape"] if before["shape"] == variable["shape"] else None}


def evenly_spread(numbers: Sequence[int], most: int) -> list[int]:
    """Returns all numbers, or `most` of them, the first and the last among them."""
    if len(numbers) <= most:
        return list(numbers)
    step = (len(numbers) - 1) / (most - 1)
    return [numbers[round(at * step)] for at in range(most)]


def describe_plain(files: Mapping[int, pathlib.Path], series: dict[str, Any]) -> None:
    """Does the same for a series of the format plain."""
    import h5py  # here, since it imports slowly and other commands do not need it

    known: dict[str, Any] = {}
    looked_at = []
    for number in evenly_spread(sorted(files), MOST_ITERATIONS):
        found: dict[str, Any] = {"iteration": number, "time": None}
        looked_at.append(found)
        try:
            with striped.readable(files[number]) as source, h5py.File(source, "r") as opened:
                found["time"] = float(opened.attrs["time"] * opened.attrs["timeUnitSI"])
                _add(known, [_variable(name, part) for name, part in plain_files.datasets(opened)])
        except (OSError, RuntimeError, KeyError, striped.Malformed):
            continue  # `tailrace inspect FILE` says why
    series["first"], series["last"] = looked_at[0], looked_at[-1]
    series["variables"] = list(known.values())


def variables(series: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Returns the variables of all clients and nodes together: the common name of the series, and each variable with
    its shape, or none where that is not the same everywhere. Where files of them all exist (`tailrace join`), the
    shape is that of the whole."""
    together: dict[str, dict[str, dict[str, Any]]] = {}
    series_of = {one["name"]: one for one in series}
    for one in series:
        common = _WHOSE.sub("", one["name"])
        known = together.setdefault(common, {})
        whole = {variable["name"]: variable for variable in series_of.get(common, {}).get("variables", [])}
        for variable in one.get("variables", []):
            variable = whole.get(variable["name"], variable)
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
