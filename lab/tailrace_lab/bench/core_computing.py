"""The part `computing` of `tailrace bench core`: how much output in place core slows the computation of its clients.

Three clients compute and write in turn, and wait for each other after both. C is the time of an iteration's
computation without output, and W that of a synchronous write of all blocks past the page cache. The kernel fits into
a cache: it is compute-bound. Its time is taken by the clocks of the threads, so that the time in which others have
the cpu does not count; what remains is what output costs it through caches and memory. A run's value is the median
iteration. The total, which counts all, is compared with the limit: computing and writing at once. The three kinds of
runs are made in turn, round after round.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING

from tailrace import quantity

from .bars import Bar, ratios
from .program import Report
from .statistics import summarise

if TYPE_CHECKING:
    from .core_settings import Settings

CLIENTS = 3
C_TO_W = (0.5, 2.0)
_SLOWED = 1.01  # the bars
_TOTAL = 1.05
_WAYS = ("memory", "posix", "core")  # no output, synchronous output, output in place core

Run = Callable[..., Report]  # of the arguments of `core_bench run`


def measure(settings: Settings, run: Run, passes: Callable[[float], int],
            doing: Callable[[str], None]) -> list[Bar]:
    """Returns the bars. `passes` returns how many passes of the kernel take that many seconds."""
    shape = ("--processes", CLIENTS, "--bytes", settings.computing_bytes, "--iterations",
             settings.computing_iterations)
    doing(f"how long synchronous writes of {CLIENTS} clients take")
    write = _writing(run("--way", "posix", *shape, "--passes", 0))
    share = max(1.0, CLIENTS / len(os.sched_getaffinity(0)))  # clients on each cpu
    bars: list[Bar] = []
    for ratio in C_TO_W:
        shaped = (*shape, "--passes", passes(ratio * write / share))
        found: dict[str, list[Report]] = {way: [] for way in _WAYS}
        for number in range(settings.place_rounds):
            for way in _WAYS[number % 3:] + _WAYS[:number % 3]:
                doing(f"computing, C/W {ratio:g}: {way}, round {number + 1} of {settings.place_rounds}")
                found[way].append(run("--way", way, "--verb", "alloc" if way == "core" else "write", *shaped))
        bars += _bars(f"{CLIENTS} clients, C/W {ratio:g}", found)
    return bars


def _bars(name: str, found: dict[str, list[Report]]) -> list[Bar]:
    slowed = ratios(*([_kernel(report) for report in found[way]] for way in ("core", "memory")))
    computing = [_computing(report) for report in found["memory"]]
    writing = [_writing(report) for report in found["posix"]]
    totals = [_total(report) for report in found["core"]]
    iterations = len(found["core"][0]["processes"][0]["begin"])
    limits = [iterations * max(c, w) + min(c, w) for c, w in zip(computing, writing)]
    took = (f"C {quantity.format_time(statistics.median(computing))}, W "
            f"{quantity.format_time(statistics.median(writing))} in these runs")
    return [Bar(f"{name}: the kernel's time beside place core / without output", "×", slowed, _SLOWED,
                note=_interval(slowed)),
            Bar(f"{name}: total of place core / the limit", "×", ratios(totals, limits), _TOTAL,
                note=f"{took}; {_interval(ratios(totals, limits))}"),
            Bar(f"{name}: total of synchronous output / the limit", "×",
                ratios([_total(report) for report in found["posix"]], limits))]


def _kernel(report: Report) -> float:
    """Returns the median time of the kernel: a virtual machine lends some iterations a slower processor."""
    return statistics.median(time for one in report["processes"] for time in one["cpu"])


def _total(report: Report) -> float:
    processes = report["processes"]
    return max(one["done"] for one in processes) - min(one["started"] for one in processes)


def _computing(report: Report) -> float:
    """Returns the time of an iteration's computation, of all processes: from the last output to the next."""
    ends = [max(times) for times in zip(*(one["end"] for one in report["processes"]))]
    begins = [min(times) for times in zip(*(one["begin"] for one in report["processes"]))]
    return statistics.median(begin - end for end, begin in zip(ends, begins[1:]))


def _writing(report: Report) -> float:
    """Returns the time of an iteration's output, from the first process that begins to the last one that ends."""
    begins = zip(*(one["begin"] for one in report["processes"]))
    ends = zip(*(one["end"] for one in report["processes"]))
    return statistics.median(max(end) - min(begin) for begin, end in zip(begins, ends))


def _interval(values: list[float]) -> str:
    found = summarise(values)
    return f"the median lies in {found.ci_low:.3f} … {found.ci_high:.3f} (bootstrap, 99.7 % or what the runs allow)"
