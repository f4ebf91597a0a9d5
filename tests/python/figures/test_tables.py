"""`make figures`: the tables of the pages about benchmarks are those of docs/figures, each can be made from the
results of a quick run, and a result that is missing or another one is a clear error."""

import json
import math
import pathlib
import random
import shutil

import pytest
from tailrace_lab.figures import __main__ as figures
from tailrace_lab.figures import documents, markdown, pages
from tailrace_lab.figures.tables import TABLES

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
QUICK = pathlib.Path(__file__).parent / "quick"  # results of quick runs, trimmed: their form counts


@pytest.fixture
def repository(tmp_path):
    """A copy of the pages and of docs/figures."""
    for name in pages.PAGES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    shutil.copytree(REPOSITORY / documents.FOLDER, tmp_path / documents.FOLDER)
    return tmp_path


def texts(root):
    """Returns all bytes of the pages and results."""
    return {name: file.read_bytes() for name in (*pages.PAGES, *(f"{documents.FOLDER}/{one}.json" for one in
                                                                documents.SOURCES))
            if (file := root / name).is_file()}


def run(root, *words):
    return figures.main(["--root", str(root), *map(str, words)])


def test_the_pages_have_the_tables_of_docs_figures(repository):
    before = texts(repository)
    assert run(repository) == 0
    assert texts(repository) == before


def test_no_line_of_the_pages_is_over_118_columns():
    long = [f"{name}:{number}" for name in pages.PAGES for text in [(REPOSITORY / name).read_text()]
            for number, line in enumerate(text.split("\n"), 1) if len(line) > 118]
    assert long == []


def test_docs_figures_are_small_and_name_no_place_of_a_machine():
    for file in (REPOSITORY / documents.FOLDER).iterdir():
        assert file.stat().st_size < 60_000 and file.stem in documents.SOURCES
        document = json.loads(file.read_text())
        assert documents.trimmed(document) == document


def test_a_hand_written_figure_is_replaced(repository):
    page = repository / "docs/benchmarks.md"
    right = page.read_text()
    page.write_text(right.replace("| synchronous |", "| by hand |"))
    assert page.read_text() != right and run(repository) == 0
    assert page.read_text() == right


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_made_from_a_quick_run(name):
    table = TABLES[name]
    markdown = table.markdown({source: documents.read(QUICK, source) for source in table.sources})
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) > 2 and len({row.count("|") for row in rows}) == 1
    assert max(map(len, markdown.splitlines())) <= 118
    if table.captioned:
        assert markdown.startswith("`") and documents.SOURCES[table.sources[0]].command.split()[0] in markdown


def results(folder, **changed):
    """Writes a result of the sweep, with changes."""
    folder.mkdir(exist_ok=True)
    document = json.loads((QUICK / "sweep.json").read_text())
    document.pop("quick", None)
    (folder / "sweep.json").write_text(json.dumps(document | changed))
    return folder


def test_results_are_copied_trimmed_and_the_others_stay(repository, tmp_path, capsys):
    other = (repository / documents.FOLDER / "jitter.json").read_text()
    folder = results(tmp_path / "out", command="tailrace bench pattern --dir /somewhere/else --sweep")
    assert run(repository, "--from", folder) == 0
    said = capsys.readouterr().out
    assert "copied into docs/figures: sweep\n" in said and "so they stay as they are: memory, " in said
    assert "renewed: docs/benchmarks.md" in said
    assert "`tailrace bench pattern --dir DIR --sweep`" in (repository / "docs/benchmarks.md").read_text()
    assert (repository / documents.FOLDER / "jitter.json").read_text() == other


def test_trimming_leaves_single_runs_places_and_digits_out():
    trimmed = documents.trimmed({
        "command": "tailrace bench small --dir /data/x --repeats 3", "machine": {"kernel": "6.1.0-host", "cpus": 2},
        "points": [{"series": {"sync": {"runs": [1, 2], "summary": {"total": {"median": 1.23456789, "runs": 5}}}}}],
        "missing": [{"why": "found no /opt/mpi/bin/mpicc"}],
        "storage": [{"directory": "/data", "filesystem": "xfs"}]})
    assert trimmed == {
        "command": "tailrace bench small --dir DIR --repeats 3", "machine": {"kernel": "6.1", "cpus": 2},
        "points": [{"series": {"sync": {"summary": {"total": {"median": 1.23457, "runs": 5}}}}}],
        "missing": [{"why": "found no mpicc"}], "storage": [{"filesystem": "xfs"}]}


def complaint(capsys, root, *words):
    """Runs the command, which must fail and change nothing; returns what it says."""
    before = texts(root)
    assert run(root, *words) == 1 and texts(root) == before
    return capsys.readouterr().err


def test_a_missing_result_is_named_with_the_command_that_makes_it(repository, capsys):
    (repository / documents.FOLDER / "jitter.json").unlink()
    said = complaint(capsys, repository)
    file = repository / documents.FOLDER / "jitter.json"
    assert said == f"figures: {file}: found no file, expected the result of `tailrace bench jitter`\n"


@pytest.mark.parametrize(("text", "found"), [
    ("{", "found no JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    ("[]", "found no object, expected tailrace_jitter"),
    ('{"tailrace_bars": 1}', "found tailrace_bars, expected tailrace_jitter: the result of `tailrace bench "),
    ('{"tailrace_jitter": 7}', "tailrace_jitter: found 7, expected 1"),
    ('{"tailrace_jitter": true}', "tailrace_jitter: found True, expected 1"),
    ('{"tailrace_jitter": 1, "cells": [], "other": NaN}', "found no JSON (NaN is no finite number), expected the "),
    ('{"tailrace_jitter": 1, "cells": [], "other": -Infinity}', "(-Infinity is no finite number)"),
    ('{"tailrace_jitter": 1, "cells": [], "other": 1e999}', "(1e999 is no finite number)"),
    ('{"tailrace_jitter": 1, "cells": [{"bytes": 1' + 400 * "0" + "}]}", "bytes: found a long text, expected a f"),
    ('{"tailrace_jitter": 1, "cells": []}', "the table 'jitter' of (ValueError: it would have no row), expected"),
    ('{"tailrace_jitter": 1}', "cells: found nothing, expected a value"),
    ('{"tailrace_jitter": 1, "cells": {}}', "cells: found an object, expected a list"),
    ('{"tailrace_jitter": 1, "cells": [{"bytes": "4 MiB"}]}', "cells[0].bytes: found '4 MiB', expected a number"),
])
def test_another_document_is_an_error_that_names_place_and_kind(repository, capsys, text, found):
    file = repository / documents.FOLDER / "jitter.json"
    file.write_text(text)
    said = complaint(capsys, repository)
    assert said.startswith(f"figures: {file}: ") and found in said


@pytest.mark.parametrize("lying", [False, True])
def test_results_of_a_quick_run_are_refused(repository, tmp_path, capsys, lying):
    quick = results(tmp_path / "out", quick=True)
    if lying:
        shutil.copy(quick / "sweep.json", repository / documents.FOLDER)
    said = complaint(capsys, repository, *(() if lying else ("--from", quick)))
    assert "sweep.json: found the result of a quick run, whose figures say nothing, expected one of" in said


def test_half_a_character_is_copied_as_it_is(repository, tmp_path):
    folder = results(tmp_path / "out", storage=[{"filesystem": "\ud800"}])
    assert run(repository, "--from", folder) == 0
    assert '"\\ud800"' in (repository / documents.FOLDER / "sweep.json").read_text()
    assert "Linux 6.18, ?):" in (repository / "docs/benchmarks.md").read_text().replace("\n", " ")


def test_a_new_result_of_which_no_table_can_be_made_changes_nothing(repository, tmp_path, capsys):
    folder = results(tmp_path / "out", points=[{}])
    said = complaint(capsys, repository, "--from", folder)
    assert said == f"figures: {folder / 'sweep.json'}: points[0].write_seconds: found nothing, expected a value\n"


def test_a_folder_without_results_is_an_error(repository, tmp_path, capsys):
    assert "found no results, expected some of sweep, " in complaint(capsys, repository, "--from", tmp_path)


@pytest.mark.parametrize(("change", "found"), [
    (("<!-- figures: jitter -->", "<!-- figures: judder -->"), "found the table 'judder', expected one of readme, "),
    (("<!-- figures end -->", "<!-- figures: open -->"), "expected '<!-- figures end -->' of line "),
    (("<!-- figures: sweep -->", "<!-- figures end -->"), "found '<!-- figures end -->' without a beginning"),
    (("<!-- figures: sweep -->", " <!-- figures: sweep -->"), "found ' <!-- figures: sweep -->', expected a mark"),
    (("<!-- figures end -->", "<!-- figures end --> "), "found '<!-- figures end --> ', expected a mark alone on"),
])
def test_a_wrong_mark_is_an_error_that_names_the_line(repository, capsys, change, found):
    page = repository / "docs/benchmarks.md"
    page.write_text(page.read_text().replace(*change, 1))
    said = complaint(capsys, repository)
    assert said.startswith("figures: docs/benchmarks.md:") and found in said


def test_each_table_is_missed_if_it_is_in_no_page(repository, capsys):
    for name in pages.PAGES:
        (repository / name).write_text("without tables\n")
    said = complaint(capsys, repository)
    assert "found nowhere <!-- figures: readme -->, <!-- figures: sweep -->, " in said
    assert all(f"<!-- figures: {name} -->" in said for name in TABLES)


def test_a_page_that_cannot_be_read_is_named_with_what_was_expected(repository, capsys):
    page = repository / "docs/benchmarks.md"
    page.write_bytes(page.read_bytes() + b"\xff\n")
    at = page.stat().st_size - 2
    expected = "expected a page with tables between marks\n"
    assert complaint(capsys, repository) == f"figures: {page}: found no UTF-8 at byte {at}, {expected}"
    page.unlink()
    assert complaint(capsys, repository) == f"figures: {page}: No such file or directory, {expected}"


def test_the_text_beside_tables_stays_as_it_is(repository):
    page = repository / "docs/benchmarks.md"
    page.write_bytes(page.read_bytes() + "a\u2028b \f c\r\nthe end without a line's end".encode())
    before = texts(repository)
    assert run(repository) == 0 and texts(repository) == before


@pytest.mark.parametrize(("name", "place", "value", "found"), [
    ("sweep", ("settings", "iterations"), 0, "the table 'gain' of (ZeroDivisionError: "),
    ("peers", ("points",), [], "points: found an empty list, expected some points"),
    ("merging", ("rows", 0, "extents"), True, "rows[0].extents: found True, expected a number"),
    ("measuring", ("rows", 0, "share"), 1e308, "the table 'measuring' of (ValueError: 'inf %' is no finite number)"),
])
def test_a_value_of_which_no_table_can_be_made_is_an_error(repository, capsys, name, place, value, found):
    file = repository / documents.FOLDER / f"{name}.json"
    document = json.loads(file.read_text())
    put(document, place, value)
    file.write_text(json.dumps(document))
    said = complaint(capsys, repository)
    assert said.startswith(f"figures: {file}") and found in said and "Traceback" not in said


def put(document, place, value):
    for key in place[:-1]:
        document = document[key]
    document[place[-1]] = value


def places(value, place=()):
    """Returns the places of all members of a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for key, member in members for one in ((*place, key), *places(member, (*place, key)))]


@pytest.mark.parametrize("name", documents.SOURCES)
def test_tables_of_odd_values_are_tables_or_errors(name):
    read = {source: documents.read(QUICK, source) for source in documents.SOURCES}
    text, chance = json.dumps(read[name].value), random.Random(1)
    odd = (None, True, 0, -1, 1e308, math.nan, math.inf, 10**400, "", "\ud800", [], {},
           "a | b\nc\u2028<!-- figures end -->")
    for place in chance.sample(every := places(json.loads(text)), min(12, len(every))):
        for value in odd:
            document = json.loads(text)
            put(document, place, value)
            read[name] = documents.Value(document, name)
            for table in TABLES.values():
                try:
                    made = table.markdown(read) if name in table.sources else ""
                except documents.FiguresError as error:
                    assert str(error).startswith(name) or f" and {name}: " in str(error)
                else:
                    assert not [bad for bad in ("<!--", "nan", "inf", "\u2028", "\ud800") if bad in made]


def test_a_name_is_one_cell_of_one_line():
    made = markdown.table(["", "a|b"], [["x | y\n<!-- figures end -->\f\u2028z", "1"]])
    assert made == "| | a\\|b |\n|---|---:|\n| x \\| y &lt;!-- figures end --> z | 1 |"


def bar(median, least=None, most=None, limit=1.05, **more):
    return documents.Value({"name": "n", "unit": "×", "median": median, "least": least, "most": most, "bar": limit,
                            "met": median <= limit, "above": 0, "count": 1} | more, "f")


@pytest.mark.parametrize(("value", "cells"), [
    (bar(1.0512, 1.0, 1.2), ["1.051 ×", "1 … 1.2", "≤ 1.05 ×", "**no**"]),
    (bar(1.0500049, 1.04, 1.0500049), ["1.050005 ×", "1.04 … 1.050005", "≤ 1.05 ×", "**no**"]),
    (bar(1.05, 1.05, 1.05), ["1.05 ×", "", "≤ 1.05 ×", "yes"]),
    (bar(1.6, 1.6, 1.6), ["1.6 ×", "", "≤ 1.05 ×", "**no**"]),
    (bar(1.01), ["1.01 ×", "", "≤ 1.05 ×", "yes"]),
    (bar(5.004, 4.0, 6.0, 5.0, unit="ms"), ["5.004 ms", "4 … 6", "≤ 5 ms", "**no**"]),
])
def test_a_bar_shows_the_digits_that_decide_and_one_value_once(value, cells):
    assert markdown.bar_row(value, "n")[1:] == cells


def test_a_missed_bar_is_bold_with_the_digits_that_decide():
    document = documents.read(QUICK, "mpiio")
    for one in document.value["bars"]:
        if one["name"] == "computing: waiting in write_all / a memcpy, tailrace over MPICH, thread, auto":
            one |= {"median": 1.304, "least": 1.304, "most": 1.304, "met": False}
    made = TABLES["mpiio_computing"].markdown({"mpiio": document})
    assert "| **1.304** |\n" in made and "| not hidden, % |" in made


def test_a_table_without_spread_says_so():
    document = documents.read(QUICK, "sweep")
    assert "no spread" not in TABLES["sweep"].markdown({"sweep": document})
    text = json.dumps(document.value).replace('"least"', '"no"').replace('"most"', '"no"')
    alone = documents.Value(json.loads(text), "sweep.json")
    assert ", no spread):" in TABLES["sweep"].markdown({"sweep": alone}).replace("\n", " ")


def test_tables_can_be_printed_without_touching_the_pages(repository, capsys):
    before = texts(repository)
    assert run(repository, "--print", "--from", QUICK) == 0
    said = capsys.readouterr().out
    assert all(f"## {name}\n" in said for name in TABLES) and texts(repository) == before
