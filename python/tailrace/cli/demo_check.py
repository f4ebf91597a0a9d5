"""Checks that other programs' readers open the demonstration's files and read the same data. Never writes."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from tailrace.quantity import counted

VARIABLES = ("eta", "hu", "hv")


class Unequal(Exception):
    """A reader found other data."""


def check(report: dict[str, Any]) -> list[str]:
    """Reads a run's files; returns a line for each reader. Raises Unequal."""
    files = [pathlib.Path(file) for file in report["files"]]
    parameters = report["parameters"]
    shape = (int(parameters["ny"]), int(parameters["nx"]))
    last = _check_h5py(files, shape)
    return [f"h5py opens all {len(files)}: {', '.join(VARIABLES)} of {shape[0]} × {shape[1]}",
            _check_openpmd(files, last)]


def _check_h5py(files: list[pathlib.Path], shape: tuple[int, int]) -> dict[str, np.ndarray]:
    import h5py

    for file in files:
        with h5py.File(file, "r") as opened:
            (iteration,) = opened["data"].values()  # one in each file
            meshes = iteration["meshes"]
            for variable in VARIABLES:
                found = meshes[variable].shape
                if found != shape:
                    raise Unequal(f"{file}: h5py found {variable} of shape {found}, expected {shape}")
            if file == files[-1]:
                return {variable: meshes[variable][...] for variable in VARIABLES}
    raise Unequal("the run has written no files")


def _check_openpmd(files: list[pathlib.Path], last: dict[str, np.ndarray]) -> str:
    try:
        import openpmd_api as openpmd
    except ImportError:
        return "openPMD-api is not installed: not tried"
    prefix = files[0].name[: -len("000000.h5")]
    pattern = str(files[0].parent / f"{prefix}%06T.h5")
    # Without this it would read the metadata of every file now.
    try:
        series = openpmd.Series(pattern, openpmd.Access.read_only, '{"defer_iteration_parsing": true}')
        _compare(openpmd, series, files, last, pattern)
        series.close()
    except (openpmd.Error, RuntimeError) as error:
        raise Unequal(f"{pattern}: openPMD-api cannot read it: {error}") from error
    return f"openPMD-api opens the series {pattern}: {counted(len(files), 'iteration')}, the last equal to h5py's"


def _compare(openpmd: Any, series: Any, files: list[pathlib.Path], last: dict[str, np.ndarray], pattern: str) -> None:
    if len(series.iterations) != len(files):
        raise Unequal(f"{pattern}: openPMD-api found {counted(len(series.iterations), 'iteration')}, expected "
                      f"{len(files)}")
    iteration = series.iterations[max(series.iterations)].open()
    for variable, expected in last.items():
        found = iteration.meshes[variable][openpmd.Mesh_Record_Component.SCALAR].load_chunk()
        series.flush()
        if not np.array_equal(found, expected):
            raise Unequal(f"{files[-1]}: openPMD-api and h5py read {variable} differently")
    iteration.close()
