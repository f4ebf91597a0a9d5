"""How busy the writer was in each of the latest iterations, as a table and a sentence: from statistics and live
jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tailrace import iterations
from tailrace.iterations import Iteration
from tailrace.quantity import format_size, format_time

from . import output

_SHOWN = 8  # of the latest
_NONE = "-"
_COLUMNS = ("iteration", "end", "period", "busy", "writing", "filtering", "taken", "stored", "relaxed", "skipped",
            "published after", "waited")


def show(found: Sequence[Iteration], who: str) -> None:
    """Prints the latest iterations and the summary of all; nothing if there are none."""
    if not found:
        return
    if len(found) > _SHOWN:
        print(f"the latest {_SHOWN} of {len(found)} iterations:")
    output.print_table(_COLUMNS, map(_row, found[-_SHOWN:]))
    said = iterations.summary(found, who)
    if said:
        print(said)


def _row(one: Iteration) -> list[Any]:
    share = _NONE if one.share is None else f"{100 * one.share:.0f} %"
    return [one.number, one.outcome, _time(one.period), share, format_time(one.writing), format_time(one.filtering),
            format_size(one.bytes_taken), format_size(one.bytes_stored), one.chunks_relaxed, one.chunks_skipped,
            _time(one.late), format_time(one.waited)]


def _time(seconds: float | None) -> str:
    return _NONE if seconds is None else format_time(seconds)
