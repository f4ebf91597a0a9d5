"""Figures from the runs at one C/W, beside the limit that is the same for every row. Pure functions.

C and W of the limit come from the runs without output and the synchronous ones that bypass the page cache, of the
same rounds. The limit has no copy: all rows have the same work, and a copy is a writer's own choice. It predicts
nothing.
"""

from __future__ import annotations

import statistics as plain
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rows import Row
from tailrace.models import pipeline
from tailrace_lab.bench.program import Report
from tailrace_lab.bench.statistics import summarise

Runs = Mapping[str, Sequence[Report]]  # by the rows' names, one run for each round


def point(asked: float, rows: Sequence[Row], runs: Runs, errors: Mapping[str, str]) -> dict[str, Any]:
    """Returns a C/W as a result file has it."""
    n = int(runs["sync"][0]["iterations"])
    compute = plain.median(run["seconds_computing"] for run in runs["none"]) / n
    write = plain.median(run["seconds_waiting"] for run in runs["sync"]) / n
    limit = pipeline.limit(n, compute, write)
    return {"c_over_w_asked": asked, "compute_seconds": compute, "write_seconds": write, "limit_seconds": limit,
            "series": {row.title: _series(row, runs, errors.get(row.name), n * compute, limit) for row in rows}}


def _series(row: Row, runs: Runs, error: str | None, computing: float, limit: float) -> dict[str, Any]:
    about = {"writer": row.name, "user_lines": row.user_lines(), "user_language": row.language}
    if error is not None:
        return {**about, "error": error}
    of = runs[row.name]
    summary = {"total": _summary(of, lambda run: run["seconds_total"]),
               "computing": _summary(of, lambda run: run["seconds_computing"]),
               "waiting": _summary(of, lambda run: run["seconds_waiting"]),
               "to_limit": _summary(of, lambda run: run["seconds_total"] / limit),
               "slowdown": _summary(of, lambda run: run["seconds_computing"] / computing - 1),
               "peak_memory": _summary(of, lambda run: run["peak_memory_bytes"])}
    waits = [(run["seconds_waiting"], sync["seconds_waiting"]) for run, sync in zip(of, runs["sync"])]
    if row.name not in ("none", "sync") and all(other > 0 for _, other in waits):
        summary["overlap"] = summarise(1 - own / other for own, other in waits).document()
    return {**about, "writer": of[0]["writer"], "switches": of[0]["switches"], "model": None,
            "predicted_seconds": None, "deviation": None, "summary": summary, "runs": list(of)}


def _summary(runs: Sequence[Report], value: Callable[[Report], float]) -> dict[str, float]:
    return summarise(map(value, runs)).document()
