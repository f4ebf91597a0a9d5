"""The command line: its output, and its exit codes: 0 success, 1 problems found or a failure, 2 wrong usage."""

import json
import subprocess
import sys

import numpy as np
import pytest
import tailrace


@pytest.fixture
def series(config, out):
    with tailrace.open(config()) as client:
        for step in (0, 1):
            client.write("temperature", step, np.ones((4, 6)))
            client.write("field", step, np.ones(65536))
            client.signal("storm", step)
            client.end_iteration(step)
    return out


def test_version(run):
    assert run("--version")[:2] == (0, "tailrace 0.1.0\n")


def test_help_names_every_command(run):
    code, text, _ = run("--help")
    assert code == 0
    for command in ("check", "inspect", "recover"):
        assert command in text
        assert run(command, "--help")[0] == 0


@pytest.mark.parametrize("arguments", [[], ["unheard-of"], ["check"], ["check", "a.yaml", "--parameter", "nx"],
                                       ["check", "a.yaml", "--parameter", "nx=many"], ["inspect"], ["recover"]])
def test_wrong_usage(run, arguments):
    code, text, message = run(*arguments)
    assert code == 2 and text == "" and message.count("\n") == 1 and "--help" in message


def test_check_of_a_right_file(run, config):
    file = config()
    assert run("check", file) == (0, f"{file}: ok\n", "")
    code, text, _ = run("check", file, "--json")
    assert code == 0 and json.loads(text) == []


def test_check_of_a_wrong_file(run, tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text("tailrace: 1\nname: sim\nlayouts: {l: {type: float46, shape: [2]}}\n"
                    "variables: {v: {layout: l}}\n")
    code, text, message = run("check", file)
    assert code == 1 and text == "" and "wrong.yaml:3" in message and "float64" in message
    code, text, _ = run("check", file, "--json")
    found = json.loads(text)
    assert code == 1 and [(one["line"], one["hint"]) for one in found] == [(3, "did you mean 'float64'?")]


def test_check_of_no_file(run):
    code, _, message = run("check", "missing.yaml")
    assert code == 1 and "missing.yaml" in message


def test_check_with_parameters_and_client(run, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("tailrace: 1\nname: p\n"
                    "layouts: {l: {type: int8, shape: [nx], global: [8], offset: [client]}}\n"
                    "variables: {v: {layout: l}}\n")
    assert run("check", file)[0] == 1  # no nx
    assert run("check", file, "--parameter", "nx=4")[0] == 0
    assert run("check", file, "--parameter", "nx=4", "--client", 4)[0] == 0
    assert run("check", file, "--parameter", "nx=4", "--client", 5)[0] == 1  # outside the whole array


def test_inspect_of_a_file(run, series):
    file = series / "sim_c0_000001.h5"
    code, text, _ = run("inspect", file)
    assert code == 0
    for word in ("temperature", "float64", "4 × 6", "K", "of the air", "storm", "iteration 1", "software: tailrace",
                 "date: ", "tailraceClient: 0", "512 KiB"):
        assert word in text, word
    assert "\x1b" not in text  # no colours without a terminal


def test_inspect_as_json(run, series):
    code, text, _ = run("inspect", series / "sim_c0_000001.h5", "--json")
    (found,) = json.loads(text)
    assert code == 0 and found["provenance"]["software"] == "tailrace"
    (iteration,) = found["iterations"]
    assert iteration["iteration"] == 1 and iteration["signals"] == ["storm"]
    variables = {variable["name"]: variable for variable in iteration["variables"]}
    assert set(variables) == {"temperature", "field"}
    assert variables["temperature"]["shape"] == [4, 6] and variables["temperature"]["bytes"] == 192
    assert variables["temperature"]["unitSI"] == 1.0 and variables["temperature"]["unit"] == "K"


def test_inspect_of_a_directory(run, series):
    (series / "sim_c0_000002.h5.part").write_bytes(b"")
    (series / "sim_c0.dropped").write_text("iteration 7: dropped, the memory budget was full\n")
    code, text, _ = run("inspect", series)
    assert code == 0 and "sim_c0_%06T.h5" in text and "0 … 1" in text and "sim_c0_000002.h5.part" in text
    assert "sim_c0 iteration 7: dropped" in text
    (found,) = json.loads(run("inspect", series, "--json")[1])
    assert found["series"][0]["iterations"] == [0, 1] and found["unfinished"] == ["sim_c0_000002.h5.part"]


def test_inspect_of_what_cannot_be_read(run, series, tmp_path):
    whole = (series / "sim_c0_000000.h5").read_bytes()
    cut = tmp_path / "cut.h5"
    cut.write_bytes(whole[: len(whole) // 2])
    text_file = tmp_path / "notes.h5"
    text_file.write_text("not HDF5")
    part = tmp_path / "sim_c0_000003.h5.part"
    part.write_bytes(whole)
    for path, word in ((cut, "not a readable HDF5 file"), (text_file, "not a readable HDF5 file"),
                       (part, "recover"), (tmp_path / "missing.h5", "no such file")):
        code, text, message = run("inspect", path)
        assert code == 1 and text == "" and str(path) in message and word in message
        code, text, _ = run("inspect", path, series / "sim_c0_000000.h5", "--json")
        assert code == 1
        first, second = json.loads(text)
        assert word in first["error"] and second["iterations"]


def test_inspect_of_a_foreign_hdf5_file(run, tmp_path):
    import h5py
    with h5py.File(tmp_path / "foreign.h5", "w") as file:
        file["x"] = np.zeros(3)
    code, _, message = run("inspect", tmp_path / "foreign.h5")
    assert code == 1 and "neither an openPMD one" in message


def test_recover(run, out):
    assert run("recover", out) == (0, f"{out}: nothing to recover\n", "")
    (out / "sim_c0_000002.h5.part").write_bytes(b"torn")
    code, text, _ = run("recover", out, "--dry-run")
    assert code == 1 and "sim_c0_000002.h5.part" in text and "to be removed" in text
    (found,) = json.loads(run("recover", out, "--dry-run", "--json")[1])
    assert found["kind"] == "incomplete" and not found["done"]
    code, text, _ = run("recover", out)
    assert code == 0 and "removed" in text and not list(out.iterdir())


def test_recover_of_no_directory(run, tmp_path):
    code, _, message = run("recover", tmp_path / "missing")
    assert code == 1 and "missing" in message


def test_a_reader_that_goes_away(series):
    command = subprocess.Popen([sys.executable, "-m", "tailrace.cli", "inspect", "--json", *[series] * 50],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    command.stdout.readline()
    command.stdout.close()
    assert "Traceback" not in command.stderr.read()
    command.stderr.close()
    command.wait()
