"""The effect of merging on the requests for each file, as tables: from statistics and live jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tailrace.files import File, Sizes
from tailrace.quantity import format_size

from . import output

_NONE = "-"
_COLUMNS = ("file", "writes", "written", "reads", "read", "requests", "accesses", "merged", "overwritten",
            "from memory", "for nothing")


def show(found: Sequence[File]) -> None:
    """Prints a line for each file, and for those with merged requests how many there were of each size; nothing if
    there were no requests."""
    used = [one for one in found if one.before.count or one.writes or one.reads]
    if not used:
        return
    output.print_table(_COLUMNS, map(_row, used))
    for one in used:
        if one.requests_merged:
            print(f"sizes in {one.name}, before and after merging:")
            output.print_table(("from", "requests", "accesses"), _sizes(one))


def _row(one: File) -> list[Any]:
    calls = [one.writes, format_size(one.bytes_written), one.reads, format_size(one.bytes_read)]
    if one.kind == "iterations":  # the program does not call for them
        calls = [_NONE] * len(calls)
    return [one.name, *calls, _many(one.before), _many(one.after), one.requests_merged,
            format_size(one.bytes_overwritten), format_size(one.bytes_from_memory), format_size(one.bytes_sieved)]


def _many(of: Sizes) -> str:
    return f"{of.count} of {format_size(of.mean)}" if of.count else "0"


def _sizes(one: File) -> list[list[Any]]:
    before, after = one.before.histogram, one.after.histogram
    return [[format_size(least), before.get(least, 0), after.get(least, 0)] for least in sorted({*before, *after})]
