"""Prints the results of `tailrace bench mpiio`: a table for each pattern, and whether bars are kept. Computes
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
from ..bench.bars import Bar, digits
from ..bench.mpiio_patterns import TITLES
from . import bench_bars

_COLUMNS = ("to the\ndevice", "time", "least … most", "/ better\nMPI", "waiting", "/ memcpy", "most", "view",
            "reading", "wrong\nwords")
_COMPUTING_COLUMNS = ("time", "least … most", "hidden, %", "computing\nslowed, %", "waiting", "/ memcpy",
                      "most", "reading\nhidden, %", "wrong\nwords")


class Printer:
    """Prints to a stream, in the order of its methods."""

    def __init__(self, stream: IO[str], quick: bool, markdown: bool) -> None:
        self.console = Console(file=stream, width=bench_bars.width(stream, markdown), highlight=False)
        self._quick = quick
        self._markdown = markdown

    def pattern(self, cells: Sequence[dict[str, Any]], bars: Sequence[Bar]) -> None:
        """A pattern has ended."""
        first = cells[0]
        self._say(f"\n{first['pattern']}: {TITLES[first['pattern']]}; {first['ranks']} ranks, {first['call']}, "
                  f"{first['iterations']} iterations of {quantity.format_size(first['bytes'])} in {first['pieces']} "
                  f"pieces; a memcpy takes {quantity.format_time(first['copy'])}")
        self._table(_COLUMNS, [(cell["way"], *_figures(cell)) for cell in cells if not cell["computes"]])
        computing = [cell for cell in cells if cell["computes"]]
        if computing:
            self._say("with computing after each write, for as long as the write takes:")
            self._table(_COMPUTING_COLUMNS, [(f"{cell['way']}: {cell['call']}", *_computing_figures(cell))
                                             for cell in computing])
        self._bars(bars)

    def conclude(self, document: dict[str, Any]) -> None:
        """Prints the summary."""
        machine, storage = document["machine"], document["storage"][0]
        self._say(f"\n{machine['cpu']}, {machine['cpus']} cpus, Linux {machine['kernel']}; {storage['directory']} "
                  f"({storage['filesystem']}); {storage['page_cache']}")
        for mpi, library in {cell["mpi"]: cell["library"] for cell in document["cells"]}.items():
            self._say(f"{mpi}: {library}")
        barred = [bar for bar in document["bars"] if bar["bar"] is not None]
        missed = [bar["name"] for bar in barred if not bar["met"]]
        self._say(f"bars kept: {len(barred) - len(missed)} of {len(barred)}"
                  + "".join(f"\n  missed: {name}" for name in missed))
        for one in document["missing"]:
            self._say(f"not measured: {one['what']}: {one['why']}")
        for line in steal.told(document["steal"]):
            self._say(line)
        if self._quick:
            self._say("These were tiny runs, to see that it works: the figures say nothing.")
        self._say(f"again: {document['command']}")

    def _bars(self, bars: Sequence[Bar]) -> None:
        rows = [(bar.name, f"{digits(bar.median)} {bar.unit}",
                 f"{digits(min(bar.values))} … {digits(max(bar.values))}", f"≤ {digits(bar.bar)}",
                 "kept" if bar.met else "missed") for bar in bars if bar.bar is not None]
        if rows:
            self._table(("median", "least … most", "bar", ""), rows)

    def _table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        table = Table(box=box.MARKDOWN if self._markdown else box.SIMPLE_HEAD)
        table.add_column("")
        for column in columns:
            table.add_column(column.replace("\n", " ") if self._markdown else column, justify="right")
        for row in rows:
            table.add_row(*row)
        fitting.show(self.console, table)

    def _say(self, text: str) -> None:
        fitting.say(self.console, text)


def _figures(cell: dict[str, Any]) -> list[str]:
    return [quantity.format_rate(cell["rate"]), *_times(cell),
            quantity.three(cell["by_better"]) if cell["by_better"] is not None else "", *_waiting(cell),
            quantity.format_time(cell["view"]), quantity.format_time(cell["reading"]) if cell["reading"] else "",
            str(cell["wrong_words"])]


def _computing_figures(cell: dict[str, Any]) -> list[str]:
    return [*_times(cell), f"{100 * cell['hidden']:.0f}", quantity.percent(cell["slowed"]), *_waiting(cell),
            f"{100 * cell['reading_hidden']:.0f}" if "reading_hidden" in cell else "", str(cell["wrong_words"])]


def _times(cell: dict[str, Any]) -> list[str]:
    return [quantity.format_time(cell["median"]),
            f"{quantity.format_time(cell['least'])} … {quantity.format_time(cell['most'])}"]


def _waiting(cell: dict[str, Any]) -> list[str]:
    return [quantity.format_time(cell["waiting"]), quantity.three(cell["waiting"] / cell["copy"]),
            quantity.format_time(cell["waiting_most"])]
