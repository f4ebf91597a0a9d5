"""Prints the survey of schedulers (`tailrace bench forward --survey`): a line for each access pattern. Computes only
ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from tailrace import quantity
from tailrace.cli import fitting

from . import bench_bars


class Printer(bench_bars.Printer):
    """Prints to a stream, at the end."""

    def conclude(self, document: dict[str, Any]) -> None:
        """Prints everything."""
        cases = document["cases"]
        first = cases[0]
        table = Table(box=self._box)
        table.add_column("")
        for column in ("none, s", "fifo", "hbrr", "twins", "window", "adaptive", "simulated: fifo", "hbrr", "twins",
                       "window"):
            table.add_column(column, justify="right")
        for case in cases:
            table.add_row(_title(case), *_figures(case))
        fitting.show(self.console, table)
        self._line("Times are divided by that without forwarding; twins: the best of its windows.")
        self._line(f"real: processes, {first['forwarders']} forwarders, schedulers, network ({first['network']}); "
                   f"modelled by delays: data servers ({first['disk']})")
        self._line(f"means of {len(first['lines'][0]['each'])} runs; {first['machine']['cpu']}, "
                   f"{first['machine']['cpus']} cpus, Linux {first['machine']['kernel']}")
        if self._quick:
            self._line("These were tiny runs, to see that it works: the figures say nothing.")


def _title(case: dict[str, Any]) -> str:
    count = "1 process" if case["clients"] == 1 else f"{case['clients']} processes"
    verb = "writes" if case["write"] else "reads"
    return f"{verb}, {case['pattern']}, {quantity.format_size(case['request'])}, {count}"


def _figures(case: dict[str, Any]) -> list[str]:
    lines = case["lines"]
    return [quantity.three(_of(lines, "no forwarding", "seconds")), *_ratios(lines, "seconds"),
            f"{_of(lines, 'adaptive', 'seconds') / _of(lines, 'no forwarding', 'seconds'):.2f}",
            *(_ratios(lines, "simulated") if all(line["simulated"] for line in lines) else ["–"] * 4)]


def _ratios(lines: Sequence[dict[str, Any]], key: str) -> list[str]:
    """Returns the ratios of fifo, hbrr and twins to no forwarding, and the best window."""
    none = _of(lines, "no forwarding", key)
    best = min((line for line in lines if line["schedule"].startswith("twins")), key=lambda line: line[key])
    return [f"{_of(lines, kind, key) / none:.2f}" for kind in ("fifo", "hbrr")] + [
        f"{best[key] / none:.2f}", best["schedule"].removeprefix("twins ")]


def _of(lines: Sequence[dict[str, Any]], schedule: str, key: str) -> float:
    return float(next(line[key] for line in lines if line["schedule"] == schedule))
