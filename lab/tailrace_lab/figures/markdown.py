"""Cells, tables and captions in Markdown. Pure."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tailrace import quantity

from ..bench.bars import digits
from .cells import Better, Name, Ratio
from .documents import SOURCES, Value

COLUMNS = 118
NONE = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table whose first column is on the left, and the others on the right; it has some rows."""
    lines = [_row(cells) for cells in rows]
    if not lines:
        raise ValueError("it would have no row")
    return "\n".join([_row(head), "|---" + "|---:" * (len(head) - 1) + "|", *lines])


def _row(cells: Sequence[str]) -> str:
    plain = (_plain(cell).replace("|", r"\|") for cell in cells)
    return "|" + "|".join(f" {cell} " if cell else " " for cell in plain) + "|"


def _plain(text: str) -> str:
    """Returns a text of a document in one line, and without what a page would take for a mark or another tag."""
    if re.search(r"(?<!\w)(nan|inf)(?!\w)", text):
        raise ValueError(f"{text!r} is no finite number")
    return " ".join(text.split()).replace("<", "&lt;").encode("utf-8", "replace").decode("utf-8")


def wrapped(text: str) -> str:
    """Returns a paragraph, in lines of the pages' width."""
    return textwrap.fill(_plain(text), COLUMNS, break_long_words=False, break_on_hyphens=False)


def has_spread(made: str) -> bool:
    """Returns True if a table has a least and a largest value somewhere."""
    return re.search(r"\d … [-+]?\d", made) is not None


def caption(documents: Mapping[str, Value], spread: bool) -> str:
    """Names the commands that made the results of a table, when and where, and says if it has no spread."""
    commands, words = [], []
    for name, document in documents.items():
        said = document.get("command")
        commands.append(f"`{said.text() if said and ' ' in said.text() else SOURCES[name].command}`")
        words += [word for word in _where(document) if word not in words]
    words += [] if spread else ["no spread"]
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
    return spread_of(summary, "median", form, factor)


def spread_of(summary: Value, key: str, form: Callable[[float], str], factor: float = 1.0) -> str:
    """Returns the same with another member in the middle."""
    middle = form(factor * summary[key].number())
    span = _span(summary, lambda value: form(factor * value), middle)
    return f"{middle} ({span})" if span else middle


def _span(summary: Value, form: Callable[[float], str], middle: str) -> str:
    """Returns "least … most"; nothing if these are not there, or not to be told from what is in the middle."""
    ends = [form(summary[key].number()) for key in ("least", "most") if summary.get(key)]
    return " … ".join(ends) if set(ends) - {middle} else ""


def _ends(summary: Value, factor: float = 1.0) -> tuple[float, float] | None:
    """Returns the least and the largest value, if the result has both."""
    least, most = summary.get("least"), summary.get("most")
    return (factor * least.number(), factor * most.number()) if least and most else None


def deciding(bar: Value | None, form: Callable[[float], str] = digits, factor: float = 1.0) -> Callable[[float], str]:
    """Returns a form for values that shows as many more digits as tell them from a bar."""
    limit = bar.number() * factor if bar else math.nan

    def formed(value: float) -> str:
        shown = form(value)
        more = (f"{value:.{count}g}" for count in range(3, 17))
        while math.isclose(float(shown), limit) and not math.isclose(value, limit):
            shown = next(more)
        return shown

    return formed


def ratio(value: float) -> str:
    """Returns a ratio with two decimals, or fewer if it is large."""
    return f"{value:.2f}" if abs(value) < 99.5 else f"{value:.0f}"


def ratios(summary: Value, form: Callable[[float], str] = ratio, better: Better = Better.LESS) -> Ratio:
    """Returns the cell of a ratio, "median (least … most)"."""
    return Ratio(spread(summary, form=form), summary["median"].number(), _ends(summary), better=better)


def share(value: float, sign: str = "+", better: Better = Better.LESS) -> Ratio:
    """Returns the cell of a share, in percent."""
    return Ratio(percent(value, sign), value, better=better, share=True)


def quotient(cell: str, time: float, by: float, per: str, better: Better = Better.LESS,
             summary: Value | None = None) -> str:
    """Returns a time's cell with its quotient by another time of the same run, which `per` names. A summary has the
    spread of the first time, perhaps."""
    if by <= 0:
        return cell
    return Ratio(cell, time / by, _ends(summary, 1 / by) if summary else None, better=better, per=per)


def percent(share: Value | float, sign: str = "+") -> str:
    return quantity.percent(share if isinstance(share, float) else share.number(), sign)


def bar_row(bar: Value, name: str) -> list[str]:
    """Returns the cells of a bar: name, median, least … most, bar, kept."""
    said, limit = bar["unit"].text(), bar.get("bar")
    factor, unit = _readable(bar["median"].number(), said)
    form = deciding(limit, factor=factor)
    median = form(factor * bar["median"].number())
    shown = f"{median} {unit}".rstrip()
    if said == "×" or (said == "" and limit):  # else it is a time, a rate or a circumstance
        shown = Ratio(shown, bar["median"].number(), _ends(bar))
    return [name, shown, _span(bar, lambda value: form(factor * value), median),
            f"≤ {digits(limit.number())} {said}".rstrip() if limit else "", kept(bar)]


_SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
BAR_HEAD = ("", Name("median", ""), "least … most", "bar", "kept")


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
