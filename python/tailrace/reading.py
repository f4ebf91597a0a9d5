"""Reading a series with xarray: `tailrace.read`. Nothing is loaded before it is used."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _filters, missing
from ._varying import along_time, constants
from .quantity import unit_of_time
from .series import NoSeries, Record, Series, find, plain

_NOT_SHOWN = ("axisLabels", "gridSpacing", "gridGlobalOffset", "gridUnitSI", "tailraceGridUnit", "dataOrder",
              "geometry", "tailraceGlobalShape", "tailraceOffset", "tailraceBlocks")
_OF_TIME = ("time", "timeUnitSI")


def read(path: str | os.PathLike[str], *, name: str | None = None, iterations: Sequence[int] | None = None,
         species: str | None = None, chunks: Any = None) -> Any:
    """Opens a series of iterations as an ``xarray.Dataset`` along ``time``.

    ``path`` is an output directory, or a file of the series; ``name`` chooses one of several series. The meshes that
    have the same shape in all ``iterations`` (all that there are) become variables, a component as ``E_x``, with the
    axes of their grids as coordinates. A value is loaded when it is used, file by file; with ``chunks`` by dask, as
    ``Dataset.chunk`` takes them. Attributes are those of the dataset and of its variables; one that varies is a
    coordinate along ``time``: ``mood`` of iterations, ``T_limits`` of the variable ``T``.

    With ``species``, the particles of exactly one iteration, along ``particle``. Raises ``ValueError`` if there is no
    such series, and ``ImportError`` without xarray. Warns of iterations in which clients are missing.
    """
    try:
        import xarray
    except ImportError as why:
        raise ImportError("tailrace.read needs xarray, which is not installed: run `pip install xarray`",
                          name="xarray") from why

    series = find(path, name)
    chosen = series.iterations if iterations is None else list(iterations)
    unknown = [iteration for iteration in chosen if iteration not in series.files]
    if unknown or not chosen:
        raise NoSeries(f"{series.name}: found the iterations {_some(series.iterations)}, expected "
                       f"{_some(unknown) if unknown else 'at least one'}")
    dataset = _particles(xarray, series, chosen, species) if species else _meshes(xarray, series, chosen)
    return dataset if chunks is None else dataset.chunk(chunks)


def _some(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return f"{shown}, …, {numbers[-1]}" if len(numbers) > 6 else shown


def _particles(xarray: Any, series: Series, chosen: list[int], species: str) -> Any:
    if len(chosen) != 1:
        raise NoSeries(f"{series.name}: found {len(chosen)} iterations, expected one, as the number of particles "
                       "changes: iterations=[…]")
    iteration = chosen[0]
    records = series.records(iteration, f"particles/{species}")
    if not records:
        there = ", ".join(series.species(iteration)) or "none"
        raise NoSeries(f"{series.files[iteration]}: found the species {there}, expected {species}")
    variables = {}
    for record in records.values():
        short = record.name.removeprefix(species + "_")
        data = (np.broadcast_to(record.value, record.shape) if record.value is not None else
                _lazy(series, [iteration], record, stacked=False))
        variables[short] = xarray.Variable(("particle",), data, _shown(record))
    attributes = series.attributes_of(iteration)
    _warn_of_missing(series, {iteration: attributes})
    return xarray.Dataset(variables, attrs=attributes)


def _warn_of_missing(series: Series, attributes: dict[int, dict[str, Any]]) -> None:
    for line in missing.sentences({number: missing.of(each) for number, each in attributes.items()}):
        warnings.warn(f"{series.name}: {line}: what was not written reads as its fill_value, or without one as "
                      "NaN (0 in integers)", stacklevel=4)


def _meshes(xarray: Any, series: Series, chosen: list[int]) -> Any:
    each = [series.records(iteration) for iteration in chosen]
    whole = {path: [records[path] for records in each] for path in each[0]
             if all(path in records and records[path].shape == each[0][path].shape for records in each)}
    attributes = [series.attributes_of(iteration) for iteration in chosen]
    _warn_of_missing(series, dict(zip(chosen, attributes)))
    unit = attributes[0].get("timeUnitSI", 1.0)
    times = [one.get("time", 0.0) * (one.get("timeUnitSI", unit) / unit) for one in attributes]
    coordinates: dict[str, Any] = {
        "time": ("time", times, {"unitSI": unit, "units": unit_of_time(unit), "long_name": "time"}),
        "iteration": ("time", chosen)}
    variables = {}
    names = {records[0].name for records in whole.values()}
    of_iterations = [{name: value for name, value in one.items() if name not in _OF_TIME} for one in attributes]
    varying = along_time("", of_iterations)
    # An axis has the name of its label for arrays whose values are in the grid's points, before shifted ones.
    for path, records in sorted(whole.items(), key=lambda one: bool(np.any(one[1][0].attributes.get("position", 0)))):
        dimensions = [_dimension(coordinates, records, axis, names) for axis in range(len(records[0].shape))]
        shown = [_shown(record) for record in records]
        variables[records[0].name] = xarray.Variable(("time", *dimensions), _lazy(series, chosen, records[0]),
                                                     constants(shown))
        varying += along_time(records[0].name + "_", shown)
    taken = {*names, *coordinates, *(dimension for one in variables.values() for dimension in one.dims)}
    for name, dimensions_of, values in varying:
        while name in taken:
            name += "_"
        taken.add(name)
        coordinates[name] = (dimensions_of, values)
    return xarray.Dataset(variables, coordinates, attrs=constants(of_iterations))


def _dimension(coordinates: dict[str, Any], records: list[Record], axis: int, variables: set[str]) -> str:
    """Returns the name of a dimension with these coordinates; adds them if they are new. Grids may move. `variables`
    have their names for themselves."""
    first = records[0]
    positions = [record.coordinates(axis) for record in records]
    moves = any(not np.array_equal(one, positions[0]) for one in positions)
    label = first.axes[axis] if axis < len(first.axes) else f"axis{axis}"
    for dimension in (name for name in (label, f"{first.name}_{label}") if name not in variables):
        known = coordinates.get(dimension) or coordinates.get(dimension + "_of_time")
        values = np.array(positions) if moves else positions[0]
        if known is None:
            shown = {"unitSI": float(first.attributes.get("gridUnitSI", 1.0))}
            if "tailraceGridUnit" in first.attributes:
                shown["units"] = plain(first.attributes["tailraceGridUnit"])
            if moves:
                coordinates[dimension + "_of_time"] = (("time", dimension), values, shown)
            else:
                coordinates[dimension] = (dimension, values, shown)
            return dimension
        if np.shape(known[1]) == values.shape and np.array_equal(known[1], values):
            return dimension
    return f"{first.name}_{axis}"


def _shown(record: Record) -> dict[str, Any]:
    shown = {name: plain(value) for name, value in record.attributes.items() if name not in _NOT_SHOWN}
    if "unit" in shown:
        shown["units"] = shown["unit"]
    return shown


def _lazy(series: Series, iterations: list[int], record: Record, stacked: bool = True) -> Any:
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Files(BackendArray):  # type: ignore[misc]
        """The array of each iteration's file, along the first axis if they are stacked."""

        def __init__(self) -> None:
            self.shape = (len(iterations), *record.shape) if stacked else record.shape
            self.dtype = np.dtype(record.dtype)

        def __getitem__(self, key: Any) -> Any:
            return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

        def _read(self, key: tuple[Any, ...]) -> Any:
            if not stacked:
                return self._of(iterations[0], key)
            chosen = np.arange(len(iterations))[key[0]]
            if np.ndim(chosen) == 0:
                return self._of(iterations[int(chosen)], key[1:])
            if len(chosen) == 0:
                return np.empty((0, *self._of(iterations[0], key[1:]).shape), self.dtype)
            return np.stack([self._of(iterations[number], key[1:]) for number in chosen])

        def _of(self, iteration: int, key: tuple[Any, ...]) -> Any:
            with series.open(iteration) as file:
                dataset = file[f"/data/{iteration}/{record.path}"]
                _filters.load_for(dataset)
                if sum(isinstance(part, np.ndarray) for part in key) <= 1 and _ascending(key):
                    return dataset[key]
                return dataset[...][np.ix_(*map(_indices, key, dataset.shape))].reshape(
                    [len(_indices(part, extent)) for part, extent in zip(key, dataset.shape)
                     if not isinstance(part, (int, np.integer))])

    return indexing.LazilyIndexedArray(Files())


def _ascending(key: tuple[Any, ...]) -> bool:
    """Returns True if h5py takes the key: lists ascend without repetition, and slices go forward."""
    return all((part.step or 1) > 0 if isinstance(part, slice) else
               not isinstance(part, np.ndarray) or bool(np.all(np.diff(part) > 0)) for part in key)


def _indices(part: Any, extent: int) -> Any:
    if isinstance(part, slice):
        return np.arange(extent)[part]
    return np.atleast_1d(part)
