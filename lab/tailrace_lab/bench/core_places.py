"""The part `places` of `tailrace bench core`: the same program in place core and in place thread, in turn.

Processes compute for about as long as a synchronous write of their block takes, and hand one block an iteration over,
by each verb. The total is the time from the beginning to the end of the last write, of the slowest process. The rate
is that of blocks that are handed over back to back, in the second half of a run of twice as many iterations: in the
first half the pool's memory is touched for the first time. Clients are not bound to cpus.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tailrace import quantity

from .bars import Bar, ratios, scaled
from .program import Report

if TYPE_CHECKING:
    from .core_settings import Settings

VERBS = ("write", "alloc", "borrow")
CLIENTS = (1, 3)
_PLACES = ("thread", "core")
_TOTAL = 1.05  # the bars: place core / place thread
_RATE = 1 / 0.95

Run = Callable[..., Report]  # of the arguments of `core_bench run`


def measure(settings: Settings, run: Run, passes: int, doing: Callable[[str], None]) -> list[Bar]:
    """Returns the bars. `passes` of the kernel take as long as the synchronous write of a block."""
    bars = []
    size = quantity.format_size(settings.place_bytes)
    for clients in CLIENTS:
        for verb in VERBS:
            totals = _in_turns(settings, run, clients, verb, passes, settings.place_iterations, _total, doing)
            name = f"{verb}, {_count(clients)}, {size}"
            bars.append(Bar(f"{name}: total of core / thread", "×", ratios(totals["core"], totals["thread"]), _TOTAL))
            bars.append(Bar(f"{name}: total of thread", "s", totals["thread"]))
    each = _in_turns(settings, run, 1, "alloc", 0, 2 * settings.place_iterations, _block, doing)
    slower = ratios(each["core"], each["thread"])
    bars.append(Bar(f"blocks of {size} back to back: time of core / thread", "×", slower, _RATE,
                    note="the rate of core is at least 0.95 × thread's"))
    bars += [Bar(f"rate of place {place}", "GB/s", scaled([settings.place_bytes / one for one in each[place]], 1e-9))
             for place in _PLACES]
    return bars


def _in_turns(settings: Settings, run: Run, clients: int, verb: str, passes: int, iterations: int,
              time: Callable[[Report], float], doing: Callable[[str], None]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {place: [] for place in _PLACES}
    for number in range(settings.place_rounds):
        for place in _PLACES[number % 2:] + _PLACES[:number % 2]:
            doing(f"{verb}, {_count(clients)}, place {place}, round {number + 1} of {settings.place_rounds}")
            report = run("--way", place, "--verb", verb, "--processes", clients, "--bytes", settings.place_bytes,
                         "--iterations", iterations, "--passes", passes)
            times[place].append(time(report))
    return times


def _total(report: Report) -> float:
    processes = report["processes"]
    return max(one["done"] for one in processes) - min(one["started"] for one in processes)


def _block(report: Report) -> float:
    """Returns the time for a block in the second half; the pool is full then, so a block waits for another."""
    begin = report["processes"][0]["begin"]
    half = len(begin) // 2
    return (begin[-1] - begin[half]) / (len(begin) - 1 - half)


def _count(clients: int) -> str:
    return "1 client" if clients == 1 else f"{clients} clients"
