"""The tables of what single calls cost: a function for each. Pure."""

from __future__ import annotations

import re

from tailrace import quantity

from .cells import Better, Grid, Ratio
from .documents import Value
from .markdown import NONE, percent, quotient

_NAMES = {"write": "`write`", "alloc_commit": "`alloc` + `commit`", "submit_request": "`borrow` in a burst",
          "raw_requests": "a request of 4 KiB of a raw file in memory"}
_LISTS = ("one list in order", "one list in any order", "64 clients, rows", "a request an extent")


def handover(document: Value) -> Grid:
    """Returns the time of each call of bench_handover."""
    sizes = [int(match[1]) for match in re.finditer(r"alloc_commit/(\d+)", str(document.value))]
    rows: dict[str, list[str]] = {}
    for one in document["benchmarks"]:
        name, size = (*one["name"].text().split("/"), "")[:2]
        label = _NAMES.get(name, name)
        if name == "raw_requests":
            label += ", adjacent" if size == "4096" else ", with holes between them"
        elif name == "alloc_commit" and size.isdigit():
            label += f", {quantity.format_size(int(size))}"
        elif name == "write":
            label += f", {quantity.format_size(max(sizes, default=0))}"
        copy = one.get("of_memcpy")
        times = [quantity.format_time(1e-6 * one[key].number()) for key in ("median_us", "worst_us")]
        rows[label] = [label, *times, Ratio(quantity.three(copy.number()), copy.number()) if copy else ""]
    return Grid(["call", "median", "worst", "/ a memcpy"], list(rows.values()))


def variables(ours: Value, h5py: Value) -> Grid:
    """Returns the time for a variable, by how many there are."""
    measured = _by_count(ours, "variables")
    rows = {what: _growing(each, "writer", "with {:,}") for what, each in measured.items()}
    first = next(iter(measured.values()), {})
    for what, each in _by_count(h5py, "variables").items():
        times = {count: row["caller"].number() for count, row in each.items()}
        rows[what] = {count: quotient(_time(us), us, first[count]["writer"].number() if count in first else 0.0,
                                      "the first row", Better.OTHERS) for count, us in times.items()}
    counts = sorted({count for each in rows.values() for count in each})
    head = ["a variable and iteration", *(f"{count:,} variables" for count in counts)]
    return Grid(head, [[what, *(each.get(count, NONE) for count in counts)] for what, each in rows.items()])


def _by_count(document: Value, counted: str) -> dict[str, dict[int, Value]]:
    """Returns the rows, by what is measured and by how many there were."""
    found: dict[str, dict[int, Value]] = {}
    for row in document["rows"]:
        found.setdefault(row["what"].text(), {})[int(row[counted].number())] = row
    return found


def _growing(rows: dict[int, Value], time: str, per: str) -> dict[int, str]:
    """Returns the cells of times in µs; each but the first has its quotient by that of the next smaller number."""
    times = {count: rows[count][time].number() for count in sorted(rows)}
    cells = {count: _time(us) for count, us in times.items()}
    for fewer, count in zip(times, list(times)[1:]):
        cells[count] = quotient(cells[count], times[count], times[fewer], per.format(fewer), summary=rows[count])
    return cells


def _time(us: float) -> str:
    return quantity.format_time(1e-6 * us)


def measuring(document: Value) -> Grid:
    """Returns what measuring adds to a block's hand-over, by the rate of blocks."""
    rows = [[f"{row['rate'].number():,.0f}", f"{row['ns'].number():.0f} ns", f"{100 * row['share'].number():.2g} %"]
            for row in document["rows"]]
    return Grid(["blocks a second", "cost a block", "share of the caller's path"], rows)


def growth(document: Value) -> Grid:
    """Returns the server's time, by how much there is that could make it longer."""
    titles = {"each writes": "an iteration of a client, when all write", "one writes": "an iteration of one client, "
              "while so many are there", "files open": "a write and a sync of a raw file, with so many open"}
    rows = {what: _growing(each, "us", "with {:,}") for what, each in _by_count(document, "count").items()}
    counts = sorted({count for each in rows.values() for count in each})
    return Grid(["", *(f"{count:,}" for count in counts)],
                 [[titles.get(what, what), *(each.get(count, NONE) for count in counts)]
                  for what, each in rows.items()])


def merging(document: Value) -> Grid:
    """Returns the time to merge an extent, by how many there are and how they come."""
    rows = [row for row in document["rows"] if row.get("extents")]
    lists = [name for name in _LISTS if any(row.get(name) for row in rows)]
    cells = []
    for row in rows:
        each = [row.get(key) for key in lists]
        first = each[0].number() if each and each[0] else 0.0
        cells.append([f"{row['extents'].number():,.0f}",
                      *(quotient(f"{one.number():.0f}", one.number(), first if number else 0.0, lists[0])
                        if one else NONE for number, one in enumerate(each))])
    shares = [row["share"].number() for row in document["rows"] if row.get("share")]
    alone = [f"\n\nA request of 1 MiB without neighbours costs {percent(one, '')} % of copying it once."
             for one in shares]
    return Grid(["extents", *(f"{name}, ns" for name in lists)], cells, "".join(alone))
