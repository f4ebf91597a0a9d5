"""The README's lines fit on a screen. Its figures are those of docs/figures: tests/python/figures/test_tables.py."""

from __future__ import annotations

import pathlib

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text()


def test_no_line_is_over_120_columns() -> None:
    assert [line for line in README.splitlines() if len(line) > 120] == []
