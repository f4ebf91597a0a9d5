"""PST by variable: how long each variable's memory is not needed after its hand-over, and how much longer writing
took (then the program waits). A table for bench_table.py; computes only medians.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table


def table(shown: Sequence[tuple[str, dict[str, Any]]]) -> Table:
    """Returns a table with a row for each writer and variable, over all runs and iterations; without rows for writers
    without output."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="per variable, an iteration", title_justify="left")
    made.add_column("")
    made.add_column("variable")
    for name in ("PST ms", "write ms", "excess ms", "most excess ms"):
        made.add_column(name, justify="right", no_wrap=True)
    for title, one in shown:
        if title != "none":
            for name, values in rows(one.get("runs", [])):
                made.add_row(title, name, *values)
    return made


def rows(runs: Sequence[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Returns PST, write time and excess (medians), and the largest excess, for every variable of a writer."""
    names = [variable["name"] for variable in runs[0].get("per_variable", [])] if runs else []
    found = []
    for at, name in enumerate(names):
        of = {key: _known(run["per_variable"][at].get(key) for run in runs)
              for key in ("pst_seconds", "write_seconds", "excess_seconds")}
        excess = of["excess_seconds"]
        found.append((name, [*map(_median, of.values()), f"{1e3 * max(excess):.2f}" if excess else "–"]))
    return found


def _known(lists: Iterable[Any]) -> list[float]:
    """Returns all values of several lists; a writer that does not know reports null, for one or for all of them."""
    return [value for one in lists for value in one or [] if value is not None]


def _median(values: Sequence[float]) -> str:
    return f"{1e3 * statistics.median(values):.2f}" if values else "–"
