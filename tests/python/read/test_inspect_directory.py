"""`tailrace inspect DIR`: the variables, iterations, times, numbers of files and sizes of all that is in a folder."""

import json

import numpy as np
import pytest
import tailrace

CONFIG = {
    "name": "sim", "memory": {"budget": "8 MiB"}, "time": {"dt": 0.5, "unit": "h"},
    "parameters": {"n": 3},
    "layouts": {"plane": {"type": "float64", "shape": ["n", 6]}, "list": {"type": "float32", "shape": [5]},
                "scalar": {"type": "int32", "shape": []}},
    "variables": {"T": {"layout": "plane", "unit": "K"},
                  "E": {"layout": "list", "unit": "V/m", "components": ["x", "y"]}, "steps": {"layout": "scalar"}},
    "particles": {"ions": {"layout": "list", "records": {"position": {"components": ["x"], "unit": "m"},
                                                         "charge": {"value": 1.6e-19, "unit": "C"}}}}}


@pytest.fixture
def folder(tmp_path):
    """Has the files of two clients, of which the second has longer blocks of T, and writes `steps` only at first."""
    out = tmp_path / "out"
    for client, length in ((0, 3), (1, 4)):
        with tailrace.open(CONFIG, client, parameters={"n": length}, path=out) as opened:
            for step in range(3):
                opened.write("T", step, np.ones((length, 6)))
                for name in ("E/x", "E/y", "ions/position/x"):
                    opened.write(name, step, np.ones(5, "f4"))
                if step == 0:
                    opened.write("steps", step, np.array(4, "i4"))
                opened.end_iteration(step)
    return out


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_each_series_has_its_files_iterations_and_times(run, folder):
    code, text, message = run("inspect", folder)
    assert code == 0 and message == ""
    assert rows(text)[0] == ["series", "files", "iterations", "time", "size"]
    assert rows(text)[1][:-2] == ["sim_c0_%06T.h5", "3", "0", "…", "2", "0", "s", "…", "1", "h"]


def test_the_variables_of_all_clients_are_one_table(run, folder):
    table = rows(run("inspect", folder)[1])
    begin = table.index(["variable", "type", "shape", "unit"])
    assert table[begin + 1:-1] == [
        ["E/x", "float32", "5", "V/m"], ["E/y", "float32", "5", "V/m"], ["T", "float64", "differs", "K"],
        ["steps", "int32", "1", "1"], ["ions/charge", "constant", "5", "C"], ["ions/position/x", "float32", "5", "m"]]


def test_the_total_counts_files_bytes_and_unfinished_ones(run, folder):
    (folder / "sim_c0_000003.h5.part").write_bytes(b"begun")
    bytes_ = sum(path.stat().st_size for path in folder.glob("*.h5"))
    code, text, _ = run("inspect", folder)
    assert code == 0 and f"in total: 6 files, {bytes_ / 1024:.0f} KiB; 1 unfinished file\n" in text
    assert "unfinished: sim_c0_000003.h5.part" in text


def test_json_has_all_of_that(run, folder):
    (found,) = json.loads(run("inspect", folder, "--json")[1])
    one, other = found["series"]
    assert one["first"] == {"iteration": 0, "time": 0.0} and one["last"] == {"iteration": 2, "time": 3600.0}
    shapes = [{variable["name"]: variable["shape"] for variable in series["variables"]} for series in (one, other)]
    assert shapes[0]["T"] == [3, 6] and shapes[1]["T"] == [4, 6] and shapes[0]["steps"] == [1]


@pytest.mark.parametrize("step", [1, 2])
def test_a_damaged_file_is_named_and_leaves_the_rest_readable(run, folder, step):
    (folder / f"sim_c0_00000{step}.h5").write_bytes(b"torn")
    code, text, complaints = run("inspect", folder)
    assert code == 1 and "E/x" in text and "in total: 6 files" in text
    assert complaints.count(f"sim_c0_00000{step}.h5: not readable") == 1


def test_a_file_shows_particles_too(run, folder):
    text = run("inspect", folder / "sim_c0_000002.h5")[1]
    assert "ions/position/x" in text and "positionOffset" not in text


GROWING = {
    "name": "sim", "memory": {"budget": "4 MiB"}, "time": {"dt": 0.5, "unit": "fs"}, "parameters": {"n": 3},
    "storage": {"iterations_per_file": 4, "existing": "continue"},
    "layouts": {"list": {"type": "float64", "shape": ["n"]}}, "variables": {"T": {"layout": "list"}},
    "particles": {"ions": {"layout": "list", "records": {"weighting": {}}}}}


def grow(out, steps):
    """Writes iterations whose number of particles changes from one to the next."""
    with tailrace.open(GROWING, path=out) as opened:
        for step in steps:
            count = 3 + step % 3
            opened.set_parameters(n=count)
            for name in ("T", "ions/weighting"):
                opened.write(name, step, np.ones(count))
            opened.end_iteration(step)


def test_files_of_several_iterations_have_no_pattern_of_iterations(run, tmp_path):
    """openPMD-api would take each file for an iteration, and finds 3 of 10."""
    grow(tmp_path / "out", range(10))
    code, text, message = run("inspect", tmp_path / "out")
    assert code == 0 and message == "" and rows(text)[1][:2] == ["sim_c0_*.h5", "3"]
    assert "in total: 3 files," in text
    code, text, _ = run("open", tmp_path / "out", "--pmd")
    assert code == 0
    named = [name.rsplit("/", 1)[1] for name in text.splitlines()]
    assert named == ["sim_c0_000000.pmd", "sim_c0_000004.pmd", "sim_c0_000008.pmd"]
    assert [(tmp_path / "out" / name).read_text() for name in named] == [
        name.replace(".pmd", ".h5") + "\n" for name in named]


def test_numbers_of_particles_that_change_differ(run, tmp_path):
    grow(tmp_path / "out", range(10))  # the first and the last iteration have as many
    table = rows(run("inspect", tmp_path / "out")[1])
    assert ["T", "float64", "differs", "1"] in table and ["ions/weighting", "float64", "differs", "1"] in table


def test_times_of_femtoseconds(run, tmp_path):
    grow(tmp_path / "out", range(2))
    text = run("inspect", tmp_path / "out")[1]
    assert "0 s … 0.5 fs" in text
    assert "iteration 1: time 0.5 fs\n" in run("inspect", next((tmp_path / "out").glob("*.h5")))[1]


@pytest.mark.parametrize("each", [1, 4, "all"])
def test_iterations_belong_to_the_run_that_wrote_them(run, tmp_path, each):
    """A file of several iterations had the run that wrote to it last."""
    settings = GROWING | {"storage": {"iterations_per_file": each, "existing": "continue"}}
    for steps in (range(6), range(6, 10)):
        with tailrace.open(settings, path=tmp_path / "out") as opened:
            for step in steps:
                opened.write("T", step, np.ones(3))
                opened.end_iteration(step)
    (found,) = json.loads(run("inspect", tmp_path / "out", "--json")[1])
    runs = found["series"][0]["runs"]
    assert [(one["first"], one["last"]) for one in runs] == [(0, 5), (6, 9)]


def test_joined_arrays_have_the_shape_of_the_whole(run, tmp_path):
    config = {"name": "rows", "memory": {"budget": "1 MiB"}, "parameters": {"first": 0},
              "layouts": {"part": {"type": "int32", "shape": [2, 6], "global": [4, 6], "offset": ["first", 0]},
                          "list": {"type": "int32", "shape": [5]}},
              "variables": {"T": {"layout": "part"}, "own": {"layout": "list"}}}
    for client in (0, 1):
        with tailrace.open(config, client, parameters={"first": 2 * client}, path=tmp_path) as opened:
            opened.write("T", 0, np.zeros((2, 6), "i4"))
            if client:
                opened.write("own", 0, np.zeros(5, "i4"))
            opened.end_iteration(0)
    assert ["T", "int32", "2", "×", "6", "1"] in rows(run("inspect", tmp_path)[1])
    assert run("join", tmp_path)[0] == 0
    table = rows(run("inspect", tmp_path)[1])
    assert ["T", "int32", "4", "×", "6", "1"] in table and ["own", "int32", "5", "1"] in table


def test_a_run_that_continues_another_is_no_complaint(run, tmp_path):
    for begin in (0, 2):
        with tailrace.open(CONFIG | {"storage": {"existing": "continue"}}, path=tmp_path / "again") as out:
            for step in range(begin, begin + 2):
                out.write("steps", step, np.array(7, "i4"))
                out.end_iteration(step)
    code, text, message = run("inspect", tmp_path / "again")
    assert code == 0 and message == ""
    assert "the files are of 2 runs; one continues the other: " in text
