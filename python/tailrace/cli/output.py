"""The output of commands: tables and messages for people, JSON for programs. Decides nothing about the content."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from tailrace.quantity import format_size


def complain(message: str) -> None:
    """Prints one or more lines on an error."""
    print(f"tailrace: {message}", file=sys.stderr)


def print_json(value: Any) -> None:
    """Prints one JSON document, for programs."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    print()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Prints a table: with rules and colours on a terminal; otherwise plain aligned text, a line for each row, for
    `grep` and `awk`."""
    lines = [[str(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _rich_table(columns, lines)
        return
    widths = [max(map(len, column)) for column in zip(columns, *lines)]
    for line in [columns, *lines]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def _rich_table(columns: Sequence[str], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from . import fitting

    table = Table(*columns, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*map(Text, row))  # as Text, since names may look like markup
    fitting.show(Console(), table)


def size(count: int) -> str:
    """1536 → "1.5 KiB": at most three significant digits."""
    return format_size(count)
