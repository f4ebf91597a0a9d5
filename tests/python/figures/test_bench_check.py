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
QUICK = pathlib.Path(__file__).parent / "quick"  # these tests need results that no `make figures` renews

# What becomes worse in the tests below: a result, a place in it, the factor, and what has to be said.
WORSENED = [
    ("sweep", ("points", 0, "series", "tailrace alloc", "summary", "to_limit"), 3,
     "sweep: C/W 0.5, `alloc`/`commit`: was 7.53 (7.31 … 7.76), is 22.60 (21.92 … 23.29): worse by 200 %"),
    ("sweep", ("points", 1, "series", "sync", "deviation"), -3,
     "sweep: C/W 1, `sync`: deviation, %: was +6.0 %, is -17.9 %: worse by 11.9 points"),
    ("memory", ("points", 0, "series", "tailrace alloc", "summary", "to_limit"), 3,
     "memory: C/W 0.2, `alloc`/`commit`: was 2.89 (1.93 … 5.29), is 8.68 (5.79 … 15.86): worse by 200 %"),
    ("ablation", ("ablation", 2, "series", "summary", "to_limit"), 3,
     "ablation: pinned, total / limit: was 1.75 (1.46 … 2.92), is 5.24 (4.39 … 8.76): worse by 200 %"),
    ("handover", ("benchmarks", 0, "of_memcpy"), 3,
     "handover: `write`, 1 MiB, / a memcpy: was 1.68, is 5.05: worse by 200 %"),
    ("core", ("bars", 1), 3, "open: open in place thread, budget 4 MiB, … first write of 1 MiB / the later ones' "
     "median: was 1.298 ×, is 3.89 ×: worse by 200 %"),
    ("core", ("bars", 9), 3, "core: write, 1 client, 1 MiB: total of core / thread: was 0.305 ×, is 0.916 ×: worse"),
    ("variables", ("rows", -1, "until_written"), 2,
     "variables: place thread: … until written, 10,000 variables / with 5,000: was 99 µs, ratio "),
    ("growth", ("rows", 3, "us"), 3, "growth: an iteration of one client, while so many are there, 10 / with 1: was "
     "17.7 µs, ratio 1.21, is 53.1 µs, ratio 3.62: worse by 200 %"),
    ("merging", ("rows", 1, "64 clients, rows"), 3, "merging: 1,000, 64 clients, rows, ns / one list in order: was "),
    ("jitter", ("cells", 2, "mean"), 3, "jitter: 1 MiB, place thread / the mean of a file per process: was 169 µs, "),
    ("small", ("cells", 0), 3, "small: `rows`, compactor on / off: was 35.8, ratio 1.36, is 107, ratio 4.09: worse "),
    ("small", ("bars", 2), 3, "small_bars: rows: writes that reach storage: was 256, is 768: worse by 200 %"),
    ("lent", ("points", 1, "series", "tailrace borrow unaligned", "summary", "to_limit"), 3,
     "lent: C/W 1, `borrow`, at odd addresses ¹: was 1.18 (1.06 … 1.30), is 3.54 (3.18 … 3.91): worse by 200 %"),
    ("triad", ("points", 0, "series", "tailrace alloc", "summary", "slowdown"), 5,
     "triad: `alloc`, slowed, %: was +30.5 (+11.7 … +49.2) %, is +152.3 ("),
    ("busy", ("bars", 0), 3, "busy: alone, `alloc`, thread: was 4.35 (2.98 … 5.71), is 13.04 ("),
    ("forward", ("bars", 5), 3,
     "forward: time to write, beside the slower of disk and TLS: was 2.06 ×, is 6.19 ×: worse by 200 %"),
    ("peers", ("points", 0, "series", "tailrace write", "summary", "to_limit"), 3,
     "peers: tailrace write, total / limit at C/W 1: was 1.54, is 4.63: worse by 200 %"),
    ("hdf5", ("rows", 10, "ratio"), 3, "hdf5: rows of 512 bytes, read back: was 1.57, is 4.72: worse by 200 %"),
    ("hdf5", ("rows", 7, "ratio"), 0.25, "hdf5: hyperslabs of 4 KiB, columns: times as fast as plain: was "),
    ("mpiio", ("bars", 22), 3, "mpiio: `strided`, thread over MPICH: was 3.09, is 9.27: worse by 200 %"),
    ("mpiio", ("bars", 24), 3, "mpiio_reading: `strided`, thread over MPICH: was 1.59, is 4.78: worse by 200 %"),
    ("mpiio", ("bars", 2), 3,
     "mpiio_calls: opening and closing / alone: tailrace over MPICH, thread: was 1.06 ×, is 3.18 ×: worse by 200 %"),
    ("mpiio", ("bars", 12), 3,
     "mpiio_computing: `contiguous`, tailrace over MPICH, thread, not hidden, %: was 342.0 %, is 1026.1 %: "
     "worse by 684 points"),
    ("pitz_daily", ("studies", 0, "ways", "tailrace, core", "overlap"), 0.25,
     "pitz_daily: output 30.0 %, tailrace, core, overlap, %: was 98.9 %, is 24.7 %: worse by 74.2 points"),
    ("cube", ("ways", 5, "to_limit"), 3, "cube: tailrace, × limit: was 1.03, is 3.10: worse by 200 %"),
]


@pytest.fixture
def root(tmp_path):
    """A repository with stored results."""
    stored = tmp_path / documents.FOLDER
    stored.mkdir(parents=True)
    for file in QUICK.glob("*.json"):
        document = json.loads(file.read_text())
        document.pop("quick", None)
        if file.stem == "variables":
            document["rows"].append({"what": "as the iteration before it", "place": "thread", "variables": 10000,
                                     "until_written": {"median": 99}})
        if file.stem == "peers":
            document["points"][0]["series"]["h5py 3.16.0"] = document["points"][0]["series"]["sync"]
        (stored / file.name).write_text(json.dumps(document))
    return tmp_path


@pytest.fixture
def folder(root):
    """A folder with the same results, as if they had been measured anew."""
    return shutil.copytree(root / documents.FOLDER, root / "out")


def run(folder, *words):
    return check.main(["--root", str(folder.parent), "--from", str(folder), *words])


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


@pytest.mark.parametrize("stored", [REPOSITORY / documents.FOLDER, None])
def test_the_same_results_are_the_same(folder, capsys, stored):
    assert check.main(["--root", str(REPOSITORY), "--from", str(stored)] if stored else [
        "--root", str(folder.parent), "--from", str(folder)]) == 0
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
    change(folder, name, place, 1 / factor**2)
    assert run(folder) == 0
    assert ": 0 worse, " in capsys.readouterr().out


def test_results_without_a_common_ratio_are_no_success(folder, capsys):
    for file in folder.glob("*.json"):
        if file.stem != "busy":
            file.unlink()
    document = json.loads((folder / "busy.json").read_text())
    (folder / "busy.json").write_text(json.dumps({**document, "bars": []}))
    assert run(folder) == 2
    assert "nothing was compared" in capsys.readouterr().err


def test_every_table_with_ratios_is_worsened_above(root):
    with_ratios = {name for name, table in TABLES.items() if compare.ratios(grid(table, root / documents.FOLDER))}
    assert with_ratios == {line.split(":")[0] for _, _, _, line in WORSENED}


def grid(table, folder):
    return table.grid({name: documents.read(folder, name) for name in table.sources})


@pytest.mark.parametrize("name", TABLES)
def test_the_ratios_of_a_quick_run_have_names_of_their_own(name):
    found = compare.ratios(grid(TABLES[name], QUICK))
    assert all(math.isfinite(one.value) and row for (row, _), one in found.items())


def test_other_programs_are_not_worse_but_said(folder, capsys):
    change(folder, "peers", ("points", 0, "series", "h5py 3.16.0", "summary", "to_limit"), 2)
    change(folder, "sweep", ("points", 0, "series", "sync", "summary", "to_limit"), 3)
    assert run(folder) == 0
    said = capsys.readouterr().out
    lines = section(said, "of other programs, changed; perhaps so did the machine:")
    assert len(lines) == 2 and "sweep: C/W 0.5, `sync`: total / limit: was 1.10 (" in lines[0]
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
        "  small_bars: overlap: time / without morphing: 2.66 ×"]
    assert section(said, "not stored:") == ["  small_bars: overlap: time / without anything: 2.66 ×"]
    assert "\nno results of hdf5\n" in said and said.endswith("; not measured: 1, not stored: 1\n")


def test_numbers_that_differ_from_run_to_run_do_not_name_rows(folder, capsys):
    for name, old, new in (("core", "of 40 of 1 MiB", "of 512 of 1 MiB"),
                           ("core", "killed 1 time beside 2 clients", "killed 9 times beside 3 clients"),
                           ("small", "system, 1 ranks", "system, 4 ranks"), ("peers", "h5py 3.16.0", "h5py 4.0"),
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
    (Ratio("", 1.0, (0.9, 1.1), per="x"), Ratio("", 1.2, (1.15, 1.3), per="x"), Verdict.SAME),  # of two times
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
