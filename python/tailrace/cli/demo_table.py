"""The demonstration's figures in a table, how they were measured, and a sentence with the conclusion.

It reports every measurement, good or bad, and computes only what its sentences need.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table
from tailrace import quantity, unrest

from . import fitting
from .demo_numbers import KINDS, TITLES, Numbers, Spread, Way

_MIB = 1024.0 * 1024.0
_WIDE = 100  # columns from which a spread fits beside its median
_Cell = Callable[[Way], str]


def show(numbers: Numbers, description: str) -> None:
    """Prints everything; `description` is tailrace's own description of the writer."""
    # Without a terminal the width is not limited, and a table that wraps is not readable.
    console = Console(width=None if sys.stdout.isatty() else 118, highlight=False)
    fitting.show(console, _table(numbers, spread_below=console.width < _WIDE))
    for line in (*basis(numbers), f"tailrace: {description}", "", conclusion(numbers), *doubts(numbers), ""):
        fitting.say(console, line)


def rows(numbers: Numbers) -> list[tuple[str, list[str]]]:
    """Returns the rows: a name, and a cell for each way."""
    n = numbers.outputs
    # A run without output is the reference of the others, so some rows do not apply to it.
    made: list[tuple[str, bool, _Cell]] = [
        ("time in total, s", True, lambda way: _spread(way.total)),
        ("  computing, s", True, lambda way: _spread(way.computing)),
        ("  waiting for output, s", False, lambda way: _spread(way.waiting)),
        ("  waiting an output, ms", False, lambda way: quantity.three(1e3 * way.waiting.median / n)),
        ("total / limit", False, lambda way: _spread(way.to_limit)),
        ("computing slowed by, %", False, lambda way: _spread(way.slowdown, 100, 1)),
        ("output overlap OO, %", False, lambda way: _spread(way.overlap, 100, 1) if way.overlap else "–"),
        ("peak memory, MiB", True, lambda way: f"{way.resident / _MIB:.0f}"),
        ("  held by tailrace, MiB", True, _held),
    ]
    return [(name, ["–" if kind == "none" and not of_none else cell(numbers.ways[kind]) for kind in KINDS])
            for name, of_none, cell in made]


def title(numbers: Numbers) -> str:
    """Says of what the rows are."""
    return (f"{quantity.counted(numbers.outputs, 'output')} of {quantity.format_size(numbers.bytes_per_output)}; "
            + ("median (least … most) of " if numbers.rounds > 1 else "") + quantity.counted(numbers.rounds, "round"))


def _table(numbers: Numbers, spread_below: bool) -> Table:
    table = Table(title=title(numbers), box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    table.add_column("")
    for kind in KINDS:
        table.add_column(TITLES[kind], justify="right", no_wrap=True)
    for name, cells in rows(numbers):
        table.add_row(name, *(cell.replace(" (", "\n(") if spread_below else cell for cell in cells))
    return table


def _held(way: Way) -> str:
    if way.held is None or way.budget is None:
        return "–"
    return f"{way.held / _MIB:.1f} of {way.budget / _MIB:.1f}"


def _spread(value: Spread, factor: float = 1, most: int | None = None) -> str:
    places = quantity.decimals(factor * value.median)
    places = places if most is None else min(places, most)
    median, least, most = (f"{factor * x:.{places}f}" for x in (value.median, value.least, value.most))
    return median if least == most else f"{median} ({least} … {most})"


def basis(numbers: Numbers) -> list[str]:
    """Says what the limit is and how its parts were measured."""
    n, c, w = numbers.outputs, numbers.compute_per_output, numbers.write_per_output
    rate = numbers.bytes_per_output / w / 1e9 if w > 0 else float("inf")
    return [
        f"limit: C + W + (n − 1)·max(C, W) = {quantity.three(numbers.limit)} s, which no schedule beats on one "
        "device",
        f"  C = {quantity.three(1e3 * c)} ms: computing without output / n (C/W = {ratio(numbers)})",
        f"  W = {quantity.three(1e3 * w)} ms: waiting of the synchronous run / n, n = {n}, {rate:.2f} GB/s",
        f"  synchronous: {numbers.written_by}",
    ]


def ratio(numbers: Numbers) -> str:
    """Returns C/W as measured."""
    w = numbers.write_per_output
    return quantity.three(numbers.compute_per_output / w) if w > 0 else "∞"


def conclusion(numbers: Numbers) -> str:
    """Returns the conclusion in one sentence."""
    synchronous, tailrace = numbers.ways["hdf5"], numbers.ways["tailrace"]
    shorter = _shorter(numbers)
    if shorter > 0:
        text = (f"With tailrace the program took {tailrace.total.median:.2f} s instead of "
                f"{synchronous.total.median:.2f} s ({100 * shorter:.0f} % less)")
    else:
        text = (f"With tailrace the program was slower here: it took {tailrace.total.median:.2f} s instead of "
                f"{synchronous.total.median:.2f} s ({-100 * shorter:.0f} % more)")
    overlap = tailrace.overlap.median if tailrace.overlap else 0.0
    text += (f": {100 * overlap:.1f} % of the time spent waiting for output is gone" if overlap > 0
             else ": it waited no less for output")
    slower = tailrace.slowdown.median
    text += f", computing was {100 * abs(slower):.1f} % {'slower' if slower >= 0 else 'faster'} than without output"
    return f"{text}, and it took {tailrace.to_limit.median:.2f} × the limit."


def doubts(numbers: Numbers) -> list[str]:
    """Lists what a reader must know before trusting the numbers."""
    found = []
    kind = max(KINDS, key=lambda one: _ratio(numbers.ways[one].total))
    total, seen = numbers.ways[kind].total, numbers.unrest
    measured = f" ({seen.said()})" if seen else ""
    if _ratio(total) > 1.1:
        found.append(f"The machine or its disk was busy with other things{measured}: the same run ({TITLES[kind]}) "
                     f"took from {total.least:.2f} to {total.most:.2f} s, so believe no ratio more closely than "
                     f"that. {unrest.ADVICE}.")
    elif seen and seen.busy:
        found.append(f"The machine was busy with other things{measured}. {unrest.ADVICE}.")
    elif seen and _shorter(numbers) < 0:
        found.append(f"While it was measured, {seen.said()}. {unrest.ADVICE}, unless this one was.")
    if numbers.rounds == 1:
        found.append("One round does not show the spread.")
    if numbers.ways["tailrace"].to_limit.median < 1:
        found.append("Below the limit: C or W was disturbed when it was measured, or tailrace writes faster than the "
                     "synchronous run does.")
    return found


def _shorter(numbers: Numbers) -> float:
    return 1 - numbers.ways["tailrace"].total.median / numbers.ways["hdf5"].total.median


def _ratio(value: Spread) -> float:
    return value.most / value.least if value.least > 0 else 1.0
