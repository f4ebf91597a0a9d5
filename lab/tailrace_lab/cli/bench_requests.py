"""Prints the results of `tailrace bench small`: a table for each pattern, and whether bars are kept. Computes
nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table
from tailrace import quantity
from tailrace.cli import fitting

from ..bench import steal
from ..bench.bars import digits
from ..bench.small_patterns import OFF, TITLES
from . import bench_bars

_COLUMNS = ("time", "least … most", "/ compactor\noff", "rate", "handed\nover", "transfers", "wrong\nbytes")


class Printer:
    """Prints to a stream, in the order of its methods."""

    def __init__(self, stream: IO[str], quick: bool, markdown: bool) -> None:
        self.console = Console(file=stream, width=bench_bars.width(stream, markdown), highlight=False)
        self._quick = quick
        self._markdown = markdown

    def pattern(self, cells: Sequence[dict[str, Any]]) -> None:
        """A pattern has ended."""
        first = cells[0]
        self._say(f"\n{first['pattern']}: {TITLES[first['pattern']]}; {first['clients']} clients, {first['pieces']} "
                  f"pieces of {quantity.format_size(first['piece_bytes'])}, a file of "
                  f"{quantity.format_size(first['file_bytes'])}")
        table = self._table("", _COLUMNS)
        off = next(cell["median"] for cell in cells if cell["way"] == OFF)
        for cell in cells:
            table.add_row(_name(cell), quantity.format_time(cell["median"]),
                          f"{quantity.format_time(cell['least'])} … {quantity.format_time(cell['most'])}",
                          quantity.three(cell["median"] / off),
                          quantity.format_rate(cell["file_bytes"] / cell["median"]),
                          quantity.format_time(cell["handed"]), f"{cell['transfers']:.0f}",
                          str(cell["wrong_bytes"]))
        fitting.show(self.console, table)
        for way, description in {cell["way"]: cell["description"] for cell in cells if cell["merge"] in (None, "")
                                 }.items():
            self._say(f"  {way}: {description}")

    def conclude(self, document: dict[str, Any]) -> None:
        """Prints the summary."""
        machine, storage = document["machine"], document["storage"][0]
        self._say(f"\n{machine['cpu']}, {machine['cpus']} cpus, Linux {machine['kernel']}; {storage['directory']} "
                  f"({storage['filesystem']}); {storage['page_cache']}")
        table = self._table("", ("median", "least … most", "bar", "met"))
        for bar in document["bars"]:
            table.add_row(bar["name"], digits(bar["median"]), f"{digits(bar['least'])} … "
                          f"{digits(bar['most'])}", f"≤ {digits(bar['bar'])}",
                          "yes" if bar["met"] else "no")
        fitting.show(self.console, table)
        missed = [bar["name"] for bar in document["bars"] if not bar["met"]]
        self._say(f"bars kept: {len(document['bars']) - len(missed)} of {len(document['bars'])}"
                  + "".join(f"\n  missed: {name}" for name in missed))
        for one in document["missing"]:
            self._say(f"not measured, since it is not here: {one['what']}: {one['why']}")
        for line in steal.told(document["steal"]):
            self._say(line)
        if self._quick:
            self._say("These were tiny runs, to see that it works: the figures say nothing.")
        self._say(f"again: {document['command']}")

    def _table(self, first: str, columns: Sequence[str]) -> Table:
        table = Table(box=box.MARKDOWN if self._markdown else box.SIMPLE_HEAD)
        table.add_column(first)
        for column in columns:
            table.add_column(column.replace("\n", " ") if self._markdown else column, justify="right")
        return table

    def _say(self, text: str) -> None:
        fitting.say(self.console, text)


def _name(cell: dict[str, Any]) -> str:
    return f"{cell['way']} ({cell['merge']})" if cell["merge"] else str(cell["way"])
