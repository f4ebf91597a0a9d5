"""`make bench-check`: worse ratios are named, in all kinds of tables; better ones are no fault, a missing row is
said, and a result that is damaged, or another one, is a clear error."""

import json
import math
import pathlib
import shutil

import pytest
from tailrace_lab.figures import cells, check, compare, documents
from tailrace_lab.figures.cells import Better, Grid, Name, Ratio
from tailrace_lab.figures.compare import Verdict
from tailrace_lab.figures.tables import TABLES

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
STORED = REPOSITORY / documents.FOLDER
QUICK = pathlib.Path(__file__).parent / "quick"

# What became worse in the tests below: a result, a place in it, the factor, and what has to be said.
WORSENED = [
    ("sweep", ("points", 2, "series", "tailrace write", "summary", "to_limit"), 1.5,
     "sweep: C/W 0.5, `write` ¹: was 0.87 (0.81 … 1.06), is 1.30 (1.22 … 1.59): worse by 50 %"),
    ("memory", ("points", 3, "series", "tailrace alloc", "summary", "to_limit"), 1.5,
     "memory: C/W 1, `alloc`/`commit`: was 1.08, is 1.62: worse by 50 %"),
    ("memory", ("points", 0, "series", "tailrace alloc", "deviation"), -3,
     "memory: C/W 0.1, `alloc`/`commit`: deviation, %: was +5.6 %, is -16.8 %: worse by 11.2 points"),
    ("ablation", ("ablation", 2, "series", "summary", "to_limit"), 2,
     "ablation: pinned, total / limit: was 0.98, is 1.96: worse by 100 %"),
    ("handover", ("benchmarks", 0, "of_memcpy"), 2,
     "handover: `write`, 128 MiB, / a memcpy: was 0.747, is 1.49: worse by 100 %"),
    ("core", ("bars", 1), 1.5,
     "open: open in place thread, budget 256 MiB, … first write of 64 MiB / the later ones' "
     "median: was 1.03 × (1.02 … 1.12), is 1.55 × (1.53 … 1.68): worse by 50 %"),
    ("core", ("bars", 24), 2,
     "core: core: write, slowest / median, beside fio: was 1.19 × (1.13 … 1.24), is 2.38 × ("),
    ("variables", ("rows", 4, "writer"), 2,
     "variables: as the iteration before it, 10,000 variables / with 1,000: was 2.87 µs, ratio 1.76, is 5.74 µs, "
     "ratio 3.52: worse by 100 %"),
    ("growth", ("rows", 5, "us"), 1.5,
     "growth: an iteration of one client, while so many are there, 1,000 / with 100: was 1.47 ms, ratio 30.6,"),
    ("merging", ("rows", 2, "64 clients, rows"), 1.5,
     "merging: 1,000,000, 64 clients, rows, ns / one list in order:"),
    ("jitter", ("cells", 3, "mean"), 9, "/ the mean of a file per process: was "),
    ("small", ("bars", 4), 2, "small_bars: overlap: time / without morphing: was 0.25 × (0.2 … 0.29), is 0.5 × ("),
    ("lent", ("points", 1, "series", "tailrace borrow", "summary", "to_limit"), 2,
     "lent: C/W 1, `borrow`, arrays on pages: was 1.06, is 2.12: worse by 100 %"),
    ("triad", ("points", 0, "series", "tailrace alloc", "summary", "slowdown"), 3,
     "triad: `alloc`, slowed, %: was +8.1 %, is +24.3 %: worse by 16.2 points"),
    ("forward", ("bars", 5), 2,
     "forward: time to write, beside the slower of disk and TLS: was 0.931 × (0.705 … 1.03), is 1.86 × ("),
    ("peers", ("points", 1, "series", "tailrace alloc", "summary", "to_limit"), 2,
     "peers: tailrace alloc, total / limit at C/W 1: was "),
    ("hdf5", ("rows", 6, "ratio"), 0.5,
     "hdf5: hyperslabs of 4 KiB, columns: times as fast as plain: was 3.24 (2.75 … 3.92), is 1.62 ("),
    ("mpiio", ("bars", 4), 2, "mpiio: `strided`, thread over MPICH: was 0.51, is 1.02: worse by 100 %"),
    ("mpiio", ("bars", 28), 2, "mpiio_computing: tailrace over MPICH, thread, not hidden, %: was 23.0 %, is 46.0 %"),
    ("pitz_daily", ("studies", 0, "ways", "tailrace, core", "overlap"), 0.5,
     "pitz_daily: output 30.0 %, tailrace, core, overlap, %: was 98.9 %, is 49.5 %: worse by 49.5 points"),
    ("cube", ("ways", 3, "to_limit"), 2, "cube: tailrace, × limit: was 0.90, is 1.80: worse by 100 %"),
]


@pytest.fixture
def folder(tmp_path):
    """A folder with the stored results, as if they had been measured anew."""
    return shutil.copytree(STORED, tmp_path / "out")


def run(folder, *words):
    return check.main(["--root", str(REPOSITORY), "--from", str(folder), *words])


def change(folder, name, place, factor):
    """Multiplies a number of a result, or the median, least and most that are there."""
    file = folder / f"{name}.json"
    document = member = json.loads(file.read_text())
    for key in place[:-1]:
        member = member[key]
    if isinstance(member[place[-1]], dict):
        member = member[place[-1]]
        place = [key for key in ("median", "least", "most") if member.get(key) is not None]
    for key in place if isinstance(place, list) else place[-1:]:
        member[key] *= factor
    file.write_text(json.dumps(document))


def section(said, title):
    """Returns the lines below a title."""
    lines = iter(said.splitlines())
    return [] if title not in lines else [line for line in iter(lambda: next(lines, ""), "") if line[:4] != "    "]


def test_the_stored_results_are_as_they_were(folder, capsys):
    assert run(folder) == 0
    said = capsys.readouterr().out
    assert said.startswith("\nratios compared: ") and ": 0 worse, 0 better, " in said
    assert said.endswith(" 0 of other programs changed; not measured: 0, not stored: 0\n")


@pytest.mark.parametrize(("name", "place", "factor", "line"), WORSENED)
def test_a_worse_ratio_is_named_and_a_better_one_is_not(folder, capsys, name, place, factor, line):
    change(folder, name, place, factor)
    assert run(folder) == 1
    said = capsys.readouterr().out
    worse = section(said, "WORSE:")
    assert len(worse) == 1 and line in worse[0], said
    assert ": 1 worse, 0 better, " in said and "\n    stored:   `" in said and "\n    measured: `" in said
    change(folder, name, place, 1 / factor**2 if "deviation" not in place else 0.01)
    assert run(folder) == 0
    assert ": 0 worse, " in capsys.readouterr().out


def test_every_table_with_ratios_is_worsened_here():
    with_ratios = {name for name, table in TABLES.items() if compare.ratios(grid(table, STORED))}
    assert with_ratios - {line.split(":")[0] for _, _, _, line in WORSENED} == {
        "jitter", "small", "mpiio_calls", "mpiio_reading"}  # jitter's line is looked for without its name


def grid(table, folder):
    return table.grid({name: documents.read(folder, name) for name in table.sources})


@pytest.mark.parametrize("name", TABLES)
def test_the_ratios_of_a_quick_run_have_names_of_their_own(name):
    found = compare.ratios(grid(TABLES[name], QUICK))
    assert all(math.isfinite(one.value) and row for (row, _), one in found.items())


def test_other_programs_are_not_worse_but_said(folder, capsys):
    change(folder, "peers", ("points", 1, "series", "h5py 3.16.0", "summary", "to_limit"), 2)
    change(folder, "sweep", ("points", 1, "series", "sync", "summary", "to_limit"), 3)
    assert run(folder) == 0
    said = capsys.readouterr().out
    lines = section(said, "of other programs, changed; perhaps so did the machine:")
    assert len(lines) == 2 and "sweep: C/W 0.2, `sync`: total / limit: was 1.15 (" in lines[0]
    assert lines[1].endswith(": more by 100 %") and "peers: h5py, total / limit at C/W 1: was " in lines[1]
    assert " 2 of other programs changed; " in said


def test_missing_and_new_rows_are_said(folder, capsys):
    file = folder / "small.json"
    document = json.loads(file.read_text())
    document["bars"][4]["name"] = "overlap: time / without anything"
    file.write_text(json.dumps(document))
    (folder / "hdf5.json").unlink()
    assert run(folder) == 0
    said = capsys.readouterr().out
    assert section(said, "not measured this time:") == [
        "  small_bars: overlap: time / without morphing: 0.25 × (0.2 … 0.29)"]
    assert section(said, "not stored:") == ["  small_bars: overlap: time / without anything: 0.25 × (0.2 … 0.29)"]
    assert "\nno results of hdf5\n" in said and said.endswith("; not measured: 1, not stored: 1\n")


def test_numbers_that_differ_from_run_to_run_do_not_name_rows(folder, capsys):
    for name, old, new in (("core", "of 680 of 4 MiB", "of 512 of 4 MiB"),
                           ("core", "killed 6 times", "killed 9 times"),
                           ("small", "openmpi, 2 ranks", "openmpi, 4 ranks"), ("peers", "h5py 3.16.0", "h5py 4.0"),
                           ("mpiio", '"ranks": 4', '"ranks": 9')):
        file = folder / f"{name}.json"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
    assert run(folder) == 0
    assert "not measured: 0, not stored: 0\n" in capsys.readouterr().out


def test_only_some_results_are_compared(folder, capsys):
    change(folder, "cube", ("ways", 3, "to_limit"), 2)
    assert run(folder, "--only", "sweep,hdf5") == 0
    assert ", in 2 results: 0 worse" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run(folder, "--only", "sweep,judder")
    assert "found 'judder', expected some of sweep, " in capsys.readouterr().err


@pytest.mark.parametrize(("text", "found"), [
    ("{", "found no JSON (Expecting property name"),
    ('{"tailrace_small": 1}',
     "found tailrace_small, expected tailrace_cube_bench: the result of `tailrace bench cube`"),
    ('{"tailrace_cube_bench": 1, "ways": [{"name": 7}]}', "ways[0].name: found 7, expected a text"),
    ('{"tailrace_cube_bench": 1, "quick": true}', "found the result of a quick run, whose figures say nothing"),
    ('{"tailrace_cube_bench": 1, "ways": [' + 2 * '{"name": "a", "seconds": 1, "to_limit": 1, "saved": 0, "slowdown"'
     ': 0},' + "]}", "found no JSON"),
])
def test_a_damaged_result_is_an_error(folder, capsys, text, found):
    file = folder / "cube.json"
    file.write_text(text)
    assert run(folder) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"bench-check: {file}: ") and found in said and said.count("\n") == 1


def test_rows_of_one_name_are_an_error(folder, capsys):
    file = folder / "cube.json"
    document = json.loads(file.read_text())
    document["ways"].append(document["ways"][-1])
    file.write_text(json.dumps(document))
    assert run(folder) == 2
    assert capsys.readouterr().err == (f"bench-check: {file}: the table 'cube': there are two ratios of "
                                       "'tailrace, × limit'\n")


def test_a_folder_without_results_is_an_error(tmp_path, capsys):
    assert run(tmp_path) == 2
    assert capsys.readouterr().err.startswith(f"bench-check: {tmp_path}: found no results, expected some of sweep, ")


@pytest.mark.parametrize(("stored", "measured", "verdict"), [
    (Ratio("", 1.0), Ratio("", 1.24), Verdict.SAME),  # without spread
    (Ratio("", 1.0), Ratio("", 1.26), Verdict.WORSE),
    (Ratio("", 1.0), Ratio("", 0.74), Verdict.BETTER),
    (Ratio("", 1.0, (0.99, 1.01)), Ratio("", 1.09, (1.08, 1.1)), Verdict.SAME),  # less than runs differ
    (Ratio("", 1.0, (0.99, 1.01)), Ratio("", 1.11, (1.1, 1.2)), Verdict.WORSE),
    (Ratio("", 1.0, (0.9, 1.5)), Ratio("", 1.4, (1.3, 1.5)), Verdict.SAME),  # within the stored spread
    (Ratio("", 1.0, (0.9, 1.1)), Ratio("", 1.4, (0.8, 1.5)), Verdict.SAME),  # within the measured one
    (Ratio("", 1.0, (0.9, 1.1)), Ratio("", 1.2), Verdict.SAME),  # one has no spread
    (Ratio("", 1.0, (1.0, 1.0)), Ratio("", 1.2, (1.2, 1.2)), Verdict.SAME),  # one run has none
    (Ratio("", 2.0, better=Better.MORE), Ratio("", 1.4, better=Better.MORE), Verdict.WORSE),
    (Ratio("", 2.0, better=Better.MORE), Ratio("", 2.6, better=Better.MORE), Verdict.BETTER),
    (Ratio("", 0.0), Ratio("", 1.0), Verdict.WORSE),
    (Ratio("", 0.0), Ratio("", 0.0), Verdict.SAME),
    (Ratio("", -0.01, share=True), Ratio("", 0.08, share=True), Verdict.SAME),
    (Ratio("", -0.01, share=True), Ratio("", 0.10, share=True), Verdict.WORSE),
    (Ratio("", 1.0, better=Better.OTHERS), Ratio("", 0.5), Verdict.OTHERS),
])
def test_verdicts(stored, measured, verdict):
    assert compare.verdict(stored, measured) is verdict


def test_rows_that_continue_others_are_named_with_them():
    one = Ratio("1", 1.0)
    rows = [["a", one], ["… b", one], ["c", one], [Name("", "e, f"), one]]
    assert list(compare.ratios(Grid(["", Name("median", "")], rows))) == [
        ("a", ""), ("a, … b", ""), ("c", ""), ("e, f", "")]


def test_a_ratio_keeps_its_members_with_another_text():
    one = Ratio("1 (0 … 2)", 1.0, (0.0, 2.0), better=Better.MORE, share=True, per="x")
    other = one.changed(text="1")
    assert (str(other), vars(other)) == ("1", vars(one)) and cells.of_others("text") == "text"
