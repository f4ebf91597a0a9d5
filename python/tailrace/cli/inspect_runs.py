"""Finds the runs to which the files of a series belong (attribute tailraceRun), for `tailrace inspect`."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from tailrace import striped

MOST_FILES = 1000  # most files of a series that are opened, evenly spread over its iterations


def of(files_of: Mapping[int, pathlib.Path]) -> list[dict[str, Any]]:
    """Returns the runs of a series in the order of their first iteration: their number, first and last iteration, and
    how many files were read. A file of another program, or an unreadable one, belongs to no run."""
    runs: dict[str, dict[str, Any]] = {}
    known: dict[pathlib.Path, str | None] = {}  # a file may have many iterations
    for iteration in _some(sorted(files_of)):
        file = files_of[iteration]
        run = known[file] = known[file] if file in known else _run_of(file)
        if run is None:
            continue
        one = runs.setdefault(run, {"run": run, "first": iteration, "last": iteration, "files": 0})
        one["last"] = iteration
        one["files"] += 1
    return list(runs.values())


def warnings(name: str, runs: list[dict[str, Any]]) -> list[str]:
    """Returns notes for the reader on several runs."""
    if len(runs) < 2:
        return []
    listed = ", ".join(f"{one['run']} ({one['first']} … {one['last']})" for one in runs)
    mixed = any(one["last"] > other["first"] for one, other in zip(runs, runs[1:]))
    how = "iterations of one lie between those of another" if mixed else "one continues the other"
    return [f"{name}: the files are of {len(runs)} runs; {how}: {listed}"]


def _some(iterations: list[int]) -> list[int]:
    if len(iterations) <= MOST_FILES:
        return iterations
    step = (len(iterations) - 1) / (MOST_FILES - 1)
    return [iterations[round(at * step)] for at in range(MOST_FILES)]


def _run_of(path: pathlib.Path) -> str | None:
    import h5py  # here, since it imports slowly and other commands do not need it

    try:
        with striped.readable(path) as source, h5py.File(source, "r") as opened:
            run = opened.attrs.get("tailraceRun")
    except (OSError, RuntimeError, KeyError, striped.Malformed):
        return None
    return run.decode("utf-8", "replace") if isinstance(run, bytes) else run
