"""Prints the study of schedulers (`tailrace bench forward --schedulers`): a table, and what its order says. Computes
only ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from tailrace import quantity
from tailrace.cli import fitting

from ..bench.bars import digits
from . import bench_bars

_MIB = 1024.0 * 1024.0


class Printer(bench_bars.Printer):
    """Prints to a stream, at the end."""

    def conclude(self, document: dict[str, Any]) -> None:
        """Prints everything."""
        machine = document["machine"]
        verb = "write" if document["write"] else "read"
        self._line(f"{document['clients']} processes {verb} {quantity.format_size(document['bytes'])} in requests of "
                   f"{quantity.format_size(document['request'])} ({document['pattern']}), {document['forwarders']} "
                   f"forwarders")
        self._line(f"real: processes, forwarders, schedulers, network ({_network(document)})")
        self._line(f"modelled by delays: data servers with a disk each ({document['disk']})")
        fitting.show(self.console, self._table(document["lines"], document["bytes"]))
        self._line(f"mean ± interval of {100 * document['confidence']:.1f} % (Student) of "
                   f"{len(document['lines'][0]['each'])} runs; {machine['cpu']}, {machine['cpus']} cpus, "
                   f"Linux {machine['kernel']}")
        for sentence in _order(document["lines"]):
            self._line(sentence)
        if self._quick:
            self._line("These were tiny runs, to see that it works: the figures say nothing.")
        self._line(f"again: {document['command']}")

    def _table(self, lines: Sequence[dict[str, Any]], size: int) -> Table:
        table = Table(box=self._box)
        table.add_column("")
        for column in ("seconds", "MiB/s", "time / hbrr", "time / none", "seeks a MiB", "simulated s",
                       "simulated / none"):
            table.add_column(column, justify="right")
        of = {line["schedule"]: line for line in lines}
        hbrr, none = of["hbrr"], of["no forwarding"]
        for line in lines:
            table.add_row(line["schedule"], _around(line["seconds"], line["half_interval"]),
                          digits(size / _MIB / line["seconds"]), f"{line['seconds'] / hbrr['seconds']:.2f}",
                          f"{line['seconds'] / none['seconds']:.2f}", digits(line["seeks"] * _MIB / size),
                          quantity.three(line["simulated"]) if line["simulated"] else "–",
                          f"{line['simulated'] / none['simulated']:.2f}" if line["simulated"] else "–")
        return table


def _around(mean: float, half: float) -> str:
    places = quantity.decimals(mean)
    return f"{mean:.{places}f} ± {half:.{places}f}"


def _network(document: dict[str, Any]) -> str:
    if document["network"] == "namespaces":
        return "TCP, a network namespace for each forwarder"
    return f"TCP, the loopback: no network namespaces here, {document['no_namespaces']}"


def _order(lines: Sequence[dict[str, Any]]) -> list[str]:
    """Says which window is best, and in which order the kinds are, here and in the simulation."""
    def best(key: str) -> tuple[str, list[str]]:
        twins = [line for line in lines if line["schedule"].startswith("twins")]
        fastest = min(twins, key=lambda line: line[key])
        kinds = [line for line in lines if not line["schedule"].startswith("twins")] + [fastest]
        return fastest["schedule"], [line["schedule"] for line in sorted(kinds, key=lambda line: line[key])]

    found = [f"fastest first, here:         {', '.join(best('seconds')[1])}"]
    if all(line["simulated"] for line in lines):
        found.append(f"fastest first, simulated:    {', '.join(best('simulated')[1])}")
    return found
