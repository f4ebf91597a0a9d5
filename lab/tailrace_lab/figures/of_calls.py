"""The tables of what single calls cost: a function for each. Pure."""

from __future__ import annotations

import re

from tailrace import quantity

from .cells import Better, Grid, Ratio
from .documents import Value
from .markdown import NONE, percent, quotient

_NAMES = {"write": "`write`", "alloc_commit": "`alloc` + `commit`", "submit_request": "`borrow` in a burst",
          "raw_requests": "a request of 4 KiB of a raw file in memory"}
_ALIKE = "as the iteration before it"
_OF_VARIABLES = {"open": "`open`", "first": "a variable of the first iteration, until written",
                 "caller": "of a later one, for the program", "until_written": "… until written",
                 "writer": "… CPU time of the writer"}
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
    """Returns what a variable costs, by how many there are, and the time of `open` with them."""
    measured: dict[str, dict[int, Value]] = {}
    units: dict[str, float] = {}

    def add(label: str, row: Value, time: Value, unit: float = 1e-6) -> None:
        measured.setdefault(label, {})[int(row["variables"].number())] = time
        units[label] = unit

    for row in ours["rows"]:
        if row["what"].text() != _ALIKE:
            add(f"{row['what'].text()}, until written", row, row["until_written"])
            continue
        for key, title in _OF_VARIABLES.items():
            if time := row.get(key):
                add(f"place {row['place'].text()}: {title}", row, time, 1e-3 if key == "open" else 1e-6)
    first = next((row for row in ours["rows"] if row["what"].text() == _ALIKE), None)
    rows = {label: _growing(each, "median", units[label]) for label, each in measured.items()}
    for row in h5py["rows"]:
        us, count = row["caller"].number(), int(row["variables"].number())
        same = first is not None and int(first["variables"].number()) == count
        by = first["until_written"]["median"].number() if first is not None and same else 0.0
        rows.setdefault(row["what"].text(), {})[count] = quotient(_time(us), us, by, "the first row", Better.OTHERS)
    counts = sorted({count for each in rows.values() for count in each})
    head = ["", *(f"{count:,} variables" for count in counts)]
    return Grid(head, [[what, *(each.get(count, NONE) for count in counts)] for what, each in rows.items()])


def _by_count(document: Value, counted: str) -> dict[str, dict[int, Value]]:
    """Returns the rows, by what is measured and by how many there were."""
    found: dict[str, dict[int, Value]] = {}
    for row in document["rows"]:
        found.setdefault(row["what"].text(), {})[int(row[counted].number())] = row
    return found


def _growing(rows: dict[int, Value], time: str, unit: float = 1e-6) -> dict[int, str]:
    """Returns the cells of times; each but the first has its quotient by that of the next smaller number."""
    times = {count: rows[count][time].number() for count in sorted(rows)}
    cells = {count: quantity.format_time(unit * one) for count, one in times.items()}
    for fewer, count in zip(times, list(times)[1:]):
        cells[count] = quotient(cells[count], times[count], times[fewer], f"with {fewer:,}", summary=rows[count])
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
    rows = {what: _growing(each, "us") for what, each in _by_count(document, "count").items()}
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
