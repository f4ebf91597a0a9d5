"""Representations for notebooks: small tables of plain HTML, without colours, which follow the notebook's theme.

All texts are escaped, since names, units and paths may come from a file. It knows objects only by their members.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ._errors import Error
from .quantity import format_size, format_time

_LEFT = ' style="text-align:left"'
_MOST_ROWS = 100


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Returns a table; it shows the first 100 rows, and how many more there are."""
    lines = list(rows)
    head = "".join(f"<th{_LEFT}>{_text(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td{_LEFT}>{_text(cell)}</td>" for cell in line) + "</tr>"
                   for line in lines[:_MOST_ROWS])
    more = f"<p>… and {len(lines) - _MOST_ROWS} more</p>" if len(lines) > _MOST_ROWS else ""
    return (f'<table><caption{_LEFT}>{_text(caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}")


def counters(caption: str, values: Mapping[str, Any]) -> str:
    """Returns a table of the values that are not 0, in the units that their names say."""
    return table(caption, ("counter", "value"), [(name, _quantity(name, value)) for name, value in values.items()
                                                 if value] or [("all", 0)])


def times(measured: Mapping[str, Any]) -> str:
    """Returns a table of distributions of times, without those of which nothing was measured."""
    return _distributions(measured, format_time, ("total", "mean", "p50", "p90", "p99", "most"))


def sizes(measured: Mapping[str, Any]) -> str:
    """Returns a table of distributions of sizes, without those of which nothing was measured."""
    return _distributions(measured, format_size, ("bytes", "most"))


def _distributions(measured: Mapping[str, Any], form: Callable[[float], str], columns: Sequence[str]) -> str:
    return table("", ("", "count", *columns), (
        (name, one.count, *(form(getattr(one, column)) for column in columns))
        for name, one in measured.items() if one.count))


def _quantity(name: str, value: Any) -> Any:
    if name.startswith(("bytes_", "memory_")):
        return format_size(value)
    return format_time(value) if name.startswith("seconds_") else value


def client(one: Any) -> str:
    """Returns what a client writes, its variables and its counters; of one that cannot say it, one line."""
    title = repr(one)[1:-1]
    try:
        return f"<p>{_text(title)}</p>{variables(one.variables.values())}{one.stats()._repr_html_()}"
    except Error:  # closed, forked, or in a call of another thread
        return f"<p>{_text(title)}</p>"


def variables(declared: Iterable[Any]) -> str:
    """Returns a table of declared variables."""
    return table("variables", ("name", "type", "shape", "size", "unit", "description"), (
        (one.name, one.dtype, " × ".join(map(str, one.shape)) or "scalar", format_size(one.nbytes), one.unit,
         one.description) for one in declared))


class Listed(list[Any]):
    """A list of dataclasses of one kind, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        if not self:
            return "<p>none</p>"
        columns = [one.name for one in dataclasses.fields(self[0])]
        return table("", columns, ([getattr(one, name) for name in columns] for one in self))


def _text(value: Any) -> str:
    return html.escape(str(value))
