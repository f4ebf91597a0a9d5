"""Prints the results of `tailrace bench core`: a table for each part, and whether its bars are kept. Computes
nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table
from tailrace import quantity
from tailrace.cli import fitting

from ..bench import steal
from ..bench.bars import Bar, digits

_WIDTH = 160  # without a terminal the width is not limited
_MARKDOWN_WIDTH = 1000  # a row of Markdown must not be broken

TITLES = {"open": "open, and the first output", "places": "place core beside place thread",
          "computing": "what computing is slowed by",
          "copy": "write, beside a memcpy", "calls": "calls that copy nothing",
          "handover": "handing over while another program loads the disk", "filters": "compression on the core",
          "restart": "the server is killed", "busy": "a machine that others keep busy",
          "forward tls": "TLS alone, between two processes",
          "forward tcp": "through a forwarder, over TCP with TLS",
          "forward overlap": "a program that computes as long as it writes (C = W)",
          "transport_speed": "the transport alone"}


class Printer:
    """Prints to a stream, in the order of its methods."""

    def __init__(self, stream: IO[str] = sys.stdout, quick: bool = False, markdown: bool = False) -> None:
        self.console = Console(file=stream, width=width(stream, markdown), highlight=False)
        self._quick = quick
        self._box = box.MARKDOWN if markdown else box.SIMPLE_HEAD

    def part(self, name: str, bars: Sequence[Bar]) -> None:
        """A part has ended."""
        self._line(f"\n{TITLES[name]}")
        table = Table(box=self._box)
        table.add_column("")
        for column in ("median", "least … most", "bar", "met", "runs"):
            table.add_column(column, justify="right")
        for bar in bars:
            table.add_row(bar.name, _value(bar.median, bar.unit),
                          f"{digits(min(bar.values))} … {digits(max(bar.values))}",
                          "" if bar.bar is None else f"≤ {_value(bar.bar, bar.unit)}", met(bar), str(len(bar.values)))
        fitting.show(self.console, table)
        for bar in bars:
            if bar.note:
                self._line(f"  {bar.name}: {bar.note}")

    def missing(self, name: str, why: str) -> None:
        """A part cannot be measured here."""
        self._line(f"\n{TITLES[name]}: not measured: {why}")

    def conclude(self, document: dict[str, Any]) -> None:
        """Prints the summary."""
        barred = [bar for bar in document["bars"] if bar["bar"] is not None]
        missed = [bar for bar in barred if not bar["met"]]
        machine = document["machine"]
        storage = document["storage"][0]
        self._line(f"\n{machine['cpu']}, {machine['cpus']} cpus, {quantity.format_size(machine['memory_bytes'])}, "
                   f"Linux {machine['kernel']}; {storage['directory']} ({storage['filesystem']})")
        self._line(f"bars kept: {len(barred) - len(missed)} of {len(barred)}"
                   + "".join(f"\n  missed: {bar['name']}" for bar in missed)
                   + "".join(f"\n  not measured: {one['part']}: {one['why']}" for one in document["missing"]))
        for line in steal.told(document["steal"]):
            self._line(line)
        if self._quick:
            self._line("These were tiny runs, to see that it works: the figures say nothing.")
        self._line(f"again: {document['command']}")

    def _line(self, text: str) -> None:
        fitting.say(self.console, text)


def width(stream: IO[str], markdown: bool) -> int | None:
    """Returns the width of a console; None: the terminal's."""
    return _MARKDOWN_WIDTH if markdown else None if stream.isatty() else _WIDTH


def met(bar: Bar) -> str:
    """Says whether the bar is kept, and how many values are above it."""
    if bar.bar is None:
        return ""
    if not bar.met:
        return "no"
    return "yes" if bar.above == 0 else f"yes ({bar.above} of {len(bar.values)} above)"


def _value(value: float, unit: str) -> str:
    return f"{digits(value)} {unit}".rstrip()
