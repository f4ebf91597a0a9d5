"""Prints the results of `tailrace bench jitter`: a table of its cells. Computes nothing."""

from __future__ import annotations

from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table
from tailrace import quantity
from tailrace.cli import fitting

from ..bench import steal
from . import bench_bars

_COLUMNS = ("mean", "worst", "spread", "worst /\nmean", "whole\nphase", "seen by the\nsimulation",
            "of the\nwhole run", "filters\nrelaxed, %")


class Printer:
    """Prints to a stream."""

    def __init__(self, stream: IO[str], quick: bool, markdown: bool) -> None:
        self.console = Console(file=stream, width=bench_bars.width(stream, markdown), highlight=False)
        self._quick = quick
        self._markdown = markdown

    def conclude(self, document: dict[str, Any]) -> None:
        """The study has ended."""
        settings, machine = document["settings"], document["machine"]
        self._say(f"write times of {settings['processes']} processes, {settings['iterations']} iterations each; "
                  f"{machine['cpu']}, {machine['cpus']} cpus, Linux {machine['kernel']}; "
                  f"{document['storage'][0]['filesystem']}")
        fitting.show(self.console, self._table(document["cells"]))
        if settings["load_bytes_per_second"]:
            self._say(f"fio wrote {quantity.format_rate(settings['load_bytes_per_second'])} beside them")
        for way, description in {cell["way"]: cell["description"] for cell in reversed(document["cells"])}.items():
            self._say(f"{way}: {description}")
        for one in document["missing"]:
            self._say(f"not measured: {one['what']}: {one['why']}")
        for line in steal.told(document["steal"]):
            self._say(line)
        if self._quick:
            self._say("These were tiny runs, to see that it works: the figures say nothing.")
        self._say(f"again: {document['command']}")

    def _table(self, cells: list[dict[str, Any]]) -> Table:
        table = Table(box=box.MARKDOWN if self._markdown else box.SIMPLE_HEAD)
        table.add_column("")
        for column in _COLUMNS:
            table.add_column(column.replace("\n", " ") if self._markdown else column, justify="right")
        for cell in cells:
            less = f"{100 * cell['chunks_less'] / cell['chunks']:.0f}" if cell["chunks"] else ""
            table.add_row(cell["experiment"],
                          *(quantity.format_time(cell[key]) for key in ("mean", "worst", "spread")),
                          quantity.three(cell["worst"] / cell["mean"]), quantity.format_time(cell["phase_mean"]),
                          *(quantity.format_rate(cell[key]) for key in ("throughput_seen", "throughput_run")), less)
        return table

    def _say(self, text: str) -> None:
        fitting.say(self.console, text)
