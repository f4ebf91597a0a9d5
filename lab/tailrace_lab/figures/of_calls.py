"""The tables of what single calls cost: a function for each. Pure."""

from __future__ import annotations

import re

from tailrace import quantity

from .documents import Value
from .markdown import NONE, percent, table

_NAMES = {"write": "`write`", "alloc_commit": "`alloc` + `commit`", "submit_request": "`borrow` in a burst",
          "raw_requests": "a request of 4 KiB of a raw file in memory"}
_LISTS = ("one list in order", "one list in any order", "64 clients, rows", "a request an extent")


def handover(document: Value) -> str:
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
        rows[label] = [label, *times, quantity.three(copy.number()) if copy else ""]
    return table(["call", "median", "worst", "/ a memcpy"], rows.values())


def variables(ours: Value, h5py: Value) -> str:
    """Returns the time for a variable, by how many there are."""
    rows: dict[str, dict[int, str]] = {}
    for document, key in ((ours, "writer"), (h5py, "caller")):
        for row in document["rows"]:
            time = quantity.format_time(1e-6 * row[key].number())
            rows.setdefault(row["what"].text(), {})[int(row["variables"].number())] = time
    counts = sorted({count for each in rows.values() for count in each})
    head = ["a variable and iteration", *(f"{count:,} variables" for count in counts)]
    return table(head, [[what, *(each.get(count, NONE) for count in counts)] for what, each in rows.items()])


def measuring(document: Value) -> str:
    """Returns what measuring adds to a block's hand-over, by the rate of blocks."""
    rows = [[f"{row['rate'].number():,.0f}", f"{row['ns'].number():.0f} ns", f"{100 * row['share'].number():.2g} %"]
            for row in document["rows"]]
    return table(["blocks a second", "cost a block", "share of the caller's path"], rows)


def growth(document: Value) -> str:
    """Returns the server's time, by how much there is that could make it longer."""
    titles = {"each writes": "an iteration of a client, when all write", "one writes": "an iteration of one client, "
              "while so many are there", "files open": "a write and a sync of a raw file, with so many open"}
    rows: dict[str, dict[int, str]] = {}
    for row in document["rows"]:
        time = quantity.format_time(1e-6 * row["us"].number())
        rows.setdefault(row["what"].text(), {})[int(row["count"].number())] = time
    counts = sorted({count for each in rows.values() for count in each})
    return table(["", *(f"{count:,}" for count in counts)],
                 [[titles.get(what, what), *(each.get(count, NONE) for count in counts)]
                  for what, each in rows.items()])


def merging(document: Value) -> str:
    """Returns the time to merge an extent, by how many there are and how they come."""
    rows = [row for row in document["rows"] if row.get("extents")]
    lists = [name for name in _LISTS if any(row.get(name) for row in rows)]
    cells = []
    for row in rows:
        each = [row.get(key) for key in lists]
        cells.append([f"{row['extents'].number():,.0f}", *(f"{one.number():.0f}" if one else NONE for one in each)])
    shares = [row["share"].number() for row in document["rows"] if row.get("share")]
    alone = [f"\n\nA request of 1 MiB without neighbours costs {percent(one, '')} % of copying it once."
             for one in shares]
    return table(["extents", *(f"{name}, ns" for name in lists)], cells) + "".join(alone)
