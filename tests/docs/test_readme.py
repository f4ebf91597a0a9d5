"""The README's figures are those of docs/benchmarks.md, and its lines fit on a screen."""

from __future__ import annotations

import pathlib
import re

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text()
BENCHMARKS = (REPOSITORY / "docs/benchmarks.md").read_text()


def rows(page: str, head: str) -> list[list[str]]:
    """Returns the cells of the first table whose head begins so, below its head."""
    table = page[page.index(head):].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_its_table_is_that_of_the_benchmarks() -> None:
    measured = {row[0]: [row[2], row[5], row[8]] for row in rows(BENCHMARKS, "| C/W | sync: total, s |")}
    shown = {row[0]: [re.sub(r" ×.*", "", cell) for cell in row[1:]] for row in rows(README, "| C/W | synchronous |")}
    assert shown == measured


def test_its_largest_deviation_is_that_of_the_benchmarks() -> None:
    deviations = [abs(float(cell)) for row in rows(BENCHMARKS, "| C/W | sync: total, s |")
                  for cell in (row[3], row[6], row[9])]
    assert f"by at most {max(deviations)} %" in README


def test_no_line_is_over_120_columns() -> None:
    assert [line for line in README.splitlines() if len(line) > 120] == []
