"""Figures of the demonstration's runs: medians, spreads, the output's overlap, the limit. Pure functions.

Each value is compared with the median of its reference, so that a table's
columns agree with each other; the spread is that of the rounds.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.unrest import Unrest

Report = dict[str, Any]  # the solver's --json of a run

KINDS = ("none", "hdf5", "tailrace")  # in the order of a round
TITLES = {"none": "without output", "hdf5": "synchronous", "tailrace": "tailrace"}


@dataclass(frozen=True)
class Spread:
    """The median of several rounds, and their least and most."""

    median: float
    least: float
    most: float


@dataclass(frozen=True)
class Way:
    """A way to write (or none), over all rounds. Seconds and bytes."""

    total: Spread
    computing: Spread
    waiting: Spread
    to_limit: Spread  # total / limit
    slowdown: Spread  # computing / computing without output, less 1
    resident: float  # most memory of the process in any round
    held: float | None  # of that, the most that tailrace ever held
    budget: float | None
    overlap: Spread | None  # OO = (OT − AT) / OT; None if there is nothing to compare


@dataclass(frozen=True)
class Numbers:
    """The whole comparison."""

    rounds: int
    outputs: int  # n
    bytes_per_output: float
    compute_per_output: float  # C: computing without output / n
    write_per_output: float  # W: waiting of the synchronous run / n
    written_by: str  # how W was measured, in the solver's words
    limit: float
    ways: dict[str, Way]
    unrest: Unrest | None = None  # of the machine, over all rounds


def limit(compute: float, write: float, iterations: int) -> float:
    """Returns the least time that any schedule can take on one device: C + W + (n − 1)·max(C, W)."""
    return compute + write + (iterations - 1) * max(compute, write)


def spread(values: Iterable[float]) -> Spread:
    """Summarises at least one value."""
    values = list(values)
    return Spread(statistics.median(values), min(values), max(values))


def typical(reports: Sequence[Report]) -> Report:
    """Returns the report with the median total (the lower of two in the middle)."""
    return sorted(reports, key=lambda report: float(report["seconds_total"]))[(len(reports) - 1) // 2]


def evaluate(rounds: Sequence[dict[str, Report]], unrest: Unrest | None = None) -> Numbers:
    """Returns the comparison, from a report of each kind for every round, and what disturbed the machine."""
    first = rounds[0]["hdf5"]
    n = int(first["outputs"])
    compute = _median(rounds, "none", "seconds_computing") / n
    write = _median(rounds, "hdf5", "seconds_waiting") / n
    least = limit(compute, write, n)
    return Numbers(
        rounds=len(rounds), outputs=n, bytes_per_output=first["bytes"] / n, compute_per_output=compute,
        write_per_output=write, written_by=first["description"], limit=least,
        ways={kind: _way([one[kind] for one in rounds], n * compute, n * write, least) for kind in KINDS},
        unrest=unrest)


def _median(rounds: Sequence[dict[str, Report]], kind: str, key: str) -> float:
    return statistics.median(float(one[kind][key]) for one in rounds)


def _way(reports: Sequence[Report], computing: float, waiting: float, least: float) -> Way:
    kind = reports[0]["output"]
    held = [report["counters"]["memory_peak"] for report in reports if "memory_peak" in report["counters"]]
    budget = reports[0]["counters"].get("memory_budget")
    return Way(
        total=spread(report["seconds_total"] for report in reports),
        computing=spread(report["seconds_computing"] for report in reports),
        waiting=spread(report["seconds_waiting"] for report in reports),
        to_limit=spread(report["seconds_total"] / least for report in reports),
        slowdown=spread(report["seconds_computing"] / computing - 1 for report in reports),
        resident=max(report["peak_rss_bytes"] for report in reports),
        held=max(held) if held else None, budget=budget,
        overlap=spread((waiting - report["seconds_waiting"]) / waiting for report in reports)
        if kind == "tailrace" and waiting > 0 else None)
