"""`make figures`: the tables of the pages about benchmarks are those of docs/figures, each can be made from the
results of a quick run, and a result that is missing or another one is a clear error."""

import json
import pathlib
import shutil

import pytest
from tailrace_lab.figures import __main__ as figures
from tailrace_lab.figures import documents, pages
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
    return {name: (root / name).read_text() for name in pages.PAGES}


def run(root, *words):
    return figures.main(["--root", str(root), *map(str, words)])


def test_the_pages_have_the_tables_of_docs_figures(repository):
    before = texts(repository)
    assert run(repository) == 0
    assert texts(repository) == before


def test_every_table_is_in_a_page(repository):
    text = "\n".join(texts(repository).values())
    assert [name for name in TABLES if f"<!-- figures: {name} -->" not in text] == []


def test_no_line_of_the_pages_is_over_118_columns():
    long = [f"{name}:{number}" for name, text in texts(REPOSITORY).items()
            for number, line in enumerate(text.splitlines(), 1) if len(line) > 118]
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
    ('{"tailrace_jitter": 1}', "cells: found nothing, expected a value"),
    ('{"tailrace_jitter": 1, "cells": {}}', "cells: found an object, expected a list"),
    ('{"tailrace_jitter": 1, "cells": [{"bytes": "4 MiB"}]}', "cells[0].bytes: found '4 MiB', expected a number"),
])
def test_another_document_is_an_error_that_names_place_and_kind(repository, capsys, text, found):
    file = repository / documents.FOLDER / "jitter.json"
    file.write_text(text)
    said = complaint(capsys, repository)
    assert said.startswith(f"figures: {file}: ") and found in said


def test_results_of_a_quick_run_are_refused(repository, tmp_path, capsys):
    said = complaint(capsys, repository, "--from", results(tmp_path / "out", quick=True))
    assert "sweep.json: found the result of a quick run, whose figures say nothing, expected one of" in said


def test_a_folder_without_results_is_an_error(repository, tmp_path, capsys):
    assert "found no results, expected some of sweep, " in complaint(capsys, repository, "--from", tmp_path)


@pytest.mark.parametrize(("change", "found"), [
    (("<!-- figures: jitter -->", "<!-- figures: judder -->"), "found the table 'judder', expected one of readme, "),
    (("<!-- figures end -->", "<!-- figures: open -->"), "expected '<!-- figures end -->' of line "),
    (("<!-- figures: sweep -->", "<!-- figures end -->"), "found '<!-- figures end -->' without a beginning"),
])
def test_a_wrong_mark_is_an_error_that_names_the_line(repository, capsys, change, found):
    page = repository / "docs/benchmarks.md"
    page.write_text(page.read_text().replace(*change, 1))
    said = complaint(capsys, repository)
    assert said.startswith("figures: docs/benchmarks.md:") and found in said


def test_tables_can_be_printed_without_touching_the_pages(repository, capsys):
    before = texts(repository)
    assert run(repository, "--print", "--from", QUICK) == 0
    said = capsys.readouterr().out
    assert all(f"## {name}\n" in said for name in TABLES) and texts(repository) == before
