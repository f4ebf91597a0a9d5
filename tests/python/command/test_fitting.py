"""Tables that fit the terminal: at 80 columns no line is longer, and no figure is lost."""

import io
import re

import pytest
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from tailrace import quantity
from tailrace.cli import demo_numbers, demo_table, fitting, output

COLUMNS = ("iteration", "end", "period", "busy", "writing", "filtering", "taken", "stored", "relaxed", "skipped",
           "published after", "waited")
ROWS = [[str(number), "published", "2.01 s", "61 %", "1.02 s", "310 ms", "32 MiB", "9.1 MiB", "0", "0", "850 ms",
         "0 s"] for number in range(9, 12)]


def table(title=None):
    made = Table(*COLUMNS, box=box.SIMPLE_HEAD, title=title)
    for row in ROWS:
        made.add_row(*map(Text, row))
    return made


def shown(made, width):
    stream = io.StringIO()
    fitting.show(Console(file=stream, width=width), made)
    return stream.getvalue()


def test_a_table_that_fits_is_one():
    wide = shown(table(), 160)
    assert len([line for line in wide.splitlines() if "iteration" in line]) == 1
    assert all(column in wide for column in COLUMNS)


@pytest.mark.parametrize("width", [40, 80, 100])
def test_a_wide_one_is_printed_in_parts_with_its_first_column(width):
    text = shown(table("a title"), width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width and "…" not in text
    heads = [line for line in lines if "iteration" in line]
    assert len(heads) > 1 and text.count("a title") == 1
    for word in {*COLUMNS, *(cell for row in ROWS for cell in row)}:
        assert word in text, word
    assert len([line for line in lines if re.match(r" *11 ", line)]) == len(heads)


def test_tables_of_commands_fit_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    output._rich_table(COLUMNS, ROWS)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80 and "published after" in said


def report(kind, computing, waiting):
    return {"output": kind, "description": f"writes as {kind}", "seconds_total": computing + waiting,
            "seconds_computing": computing, "seconds_waiting": waiting, "outputs": 4, "bytes": 2.0**25,
            "peak_rss_bytes": 1e8, "counters": {}, "timeline": []}


@pytest.mark.parametrize("width", [80, 118])
def test_the_demonstrations_table_fits(width):
    rounds = [{"none": report("none", 4.0 + more, 0.0), "hdf5": report("hdf5", 4.2 + more, 2.0),
               "tailrace": report("tailrace", 4.1 + more, 0.5)} for more in (0.0, 0.7, 0.2)]
    numbers = demo_numbers.evaluate(rounds)
    text = shown(demo_table._table(numbers, spread_below=width < 100), width)
    assert max(map(len, text.splitlines())) <= width
    for words in ("4.20", "(4.00 … 4.70)", "without output", "peak memory, MiB"):
        assert words in text, words


@pytest.mark.parametrize("value,text", [(0, "0.00"), (0.012345, "0.0123"), (0.99996, "1.00"), (2.345, "2.35"),
                                        (23.45, "23.4"), (234.5, "234"), (2345.6, "2346"), (-1.5, "-1.50"),
                                        (4.144e-6, "4.14e-06")])
def test_three_significant_digits(value, text):
    assert quantity.three(value) == text
