"""Tables that fit a terminal: one that is too wide is printed in parts, below each other, each with the first column.

It cuts no text, and changes nothing where the width suffices.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import TextType


def show(console: Console, table: Table) -> None:
    """Prints the table, in parts if it is wider than the console."""
    for part in parts(console, table):
        console.print(part)


def say(console: Console, line: str) -> None:
    """Prints a line of text, which is wrapped where it is read. (In notebooks, rich would give each a frame.)"""
    if console.is_jupyter:
        print(line)
    else:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def parts(console: Console, table: Table) -> Iterator[Table]:
    """Returns the table itself if it fits, else tables with some of its columns each, and the first one in each."""
    first, *others = table.columns
    if len(others) < 2 or _fits(console, table):
        yield table
        return
    title, chosen = table.title, [others[0]]
    for column in others[1:]:
        if _fits(console, _part(table, [first, *chosen, column], None)):
            chosen.append(column)
            continue
        yield _part(table, [first, *chosen], title)
        title, chosen = None, [column]  # the title stands above the first part alone
    yield _part(table, [first, *chosen], title)


def _fits(console: Console, table: Table) -> bool:
    """Returns True if no cell must be wrapped or cut."""
    unlimited = console.options.update(max_width=10 * console.width + 1000)
    return Measurement.get(console, unlimited, table).maximum <= console.width


def _part(table: Table, columns: list[Column], title: TextType | None) -> Table:
    made = Table(box=table.box, pad_edge=table.pad_edge, padding=table.padding, title=title,
                 title_justify=table.title_justify, title_style=table.title_style)
    for column in columns:
        made.add_column(column.header, justify=column.justify, no_wrap=column.no_wrap, vertical=column.vertical)
    for row in zip(*(column.cells for column in columns)):
        made.add_row(*row)
    return made
