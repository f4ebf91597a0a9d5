"""Cells, tables and captions in Markdown. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tailrace import quantity

from ..bench.bars import digits
from .documents import SOURCES, Value

COLUMNS = 118
NONE = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table whose first column is on the left, and the others on the right."""
    lines = [_row(head), "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + [_row(cells) for cells in rows])


def _row(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def wrapped(text: str) -> str:
    """Returns a paragraph, in lines of the pages' width."""
    return textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False)


def caption(documents: Mapping[str, Value]) -> str:
    """Names the commands that made the results of a table, when and where."""
    commands, words = [], []
    for name, document in documents.items():
        said = document.get("command")
        commands.append(f"`{said.text() if said and ' ' in said.text() else SOURCES[name].command}`")
        words += [word for word in _where(document) if word not in words]
    return wrapped(" and ".join(commands) + (f" ({', '.join(words)}):" if words else ":"))


def _where(document: Value) -> Iterator[str]:
    created = document.get("created") or (document["context"].get("date") if document.get("context") else None)
    if created:
        yield created.text()[:10]
    machine = document.get("machine")
    if machine:
        yield machine["cpu"].text()
        yield quantity.counted(int(machine["cpus"].number()), "cpu")
        yield f"Linux {machine['kernel'].text()}"
    for one in document.get("storage") or []:
        yield one["filesystem"].text()


def spread(summary: Value, factor: float = 1.0, form: Callable[[float], str] = quantity.three) -> str:
    """Returns "median (least … most)"; of a single value, the value."""
    middle = form(factor * summary["median"].number())
    if summary.get("least") is None:
        return middle
    return f"{middle} ({' … '.join(form(factor * summary[key].number()) for key in ('least', 'most'))})"


def ratio(value: float) -> str:
    """Returns a ratio with two decimals, or fewer if it is large."""
    return f"{value:.2f}" if abs(value) < 99.5 else f"{value:.0f}"


def ratios(summary: Value) -> str:
    return spread(summary, form=ratio)


def percent(share: Value | float, sign: str = "+") -> str:
    return quantity.percent(share if isinstance(share, float) else share.number(), sign)


def bar_row(bar: Value, name: str) -> list[str]:
    """Returns the cells of a bar: name, median, least … most, bar, kept."""
    said = bar["unit"].text()
    factor, unit = _readable(bar["median"].number(), said)
    least, most = (digits(factor * bar[key].number()) for key in ("least", "most"))
    limit = bar.get("bar")
    return [name, _value(factor * bar["median"].number(), unit), f"{least} … {most}",
            f"≤ {_value(limit.number(), said)}" if limit else "", kept(bar)]


_SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
BAR_HEAD = ("", "median", "least … most", "bar", "kept")


def _value(of: float, unit: str) -> str:
    return f"{digits(of)} {unit}".rstrip()


def _readable(median: float, unit: str) -> tuple[float, str]:
    """Returns the factor and the unit with which a time is easily read; other values stay as they are."""
    seconds = median * _SECONDS.get(unit, 0.0)
    best = next((one for one in _SECONDS if seconds >= _SECONDS[one]), unit)
    return (_SECONDS[unit] / _SECONDS[best], best) if unit in _SECONDS else (1.0, unit)


def kept(bar: Value) -> str:
    """Says whether a bar is kept, and how many values are above it."""
    met = bar.get("met")
    if met is None:
        return ""
    if not met.value:
        return "**no**"
    above = int(bar["above"].number())
    return "yes" if above == 0 else f"yes, {above} of {bar['count'].number():.0f} above"


def missing(document: Value) -> str:
    """Says what could not be measured; empty if nothing."""
    found = []
    for one in document.get("missing") or []:
        what = one.get("part") or one["what"]
        found.append(f"{what.text()} ({one['why'].text().splitlines()[0]})")
    return "\n\n" + wrapped("Not measured: " + "; ".join(found) + ".") if found else ""
