"""Finds the runs to which the files of a series belong (attribute tailraceRun), for `tailrace inspect`."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from tailrace import striped

from .inspect_series import evenly_spread

MOST_FILES = 1000  # most files of a series that are opened, evenly spread over its iterations


def of(files_of: Mapping[int, pathlib.Path]) -> list[dict[str, Any]]:
    """Returns the runs of a series in the order of their first iteration: their number, first and last iteration, and
    how many files were read. A file of another program, or an unreadable one, belongs to no run."""
    runs: dict[str, dict[str, Any]] = {}
    together: dict[pathlib.Path, list[int]] = {}  # a file may have many iterations
    for iteration in evenly_spread(sorted(files_of), MOST_FILES):
        together.setdefault(files_of[iteration], []).append(iteration)
    found = {iteration: run for file, iterations in together.items() for iteration, run in _runs_in(file, iterations)}
    for iteration, run in sorted(found.items()):
        one = runs.setdefault(run, {"run": run, "first": iteration, "last": iteration, "files": set()})
        one["last"] = iteration
        one["files"].add(files_of[iteration])
    return [{**one, "files": len(one["files"])} for one in runs.values()]


def warnings(name: str, runs: list[dict[str, Any]]) -> list[str]:
    """Returns notes for the reader on several runs."""
    if len(runs) < 2:
        return []
    listed = ", ".join(f"{one['run']} ({one['first']} … {one['last']})" for one in runs)
    mixed = any(one["last"] > other["first"] for one, other in zip(runs, runs[1:]))
    how = "iterations of one lie between those of another" if mixed else "one continues the other"
    return [f"{name}: the files are of {len(runs)} runs; {how}: {listed}"]


def _runs_in(path: pathlib.Path, iterations: list[int]) -> list[tuple[int, str]]:
    """Returns the run of each iteration of a file, as far as the file has it: of the iteration, or of the file."""
    import h5py  # here, since it imports slowly and other commands do not need it

    try:
        with striped.readable(path) as source, h5py.File(source, "r") as opened:
            of_file = opened.attrs.get("tailraceRun")
            runs = [(number, opened[f"data/{number}"].attrs.get("tailraceRun", of_file)) for number in iterations]
    except (OSError, RuntimeError, KeyError, striped.Malformed):
        return []
    return [(number, run.decode("utf-8", "replace") if isinstance(run, bytes) else run)
            for number, run in runs if run is not None]
