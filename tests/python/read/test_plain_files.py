"""Files of the format plain at the command line: `inspect` shows them, and `join` says why it cannot join them."""

import json

import numpy as np
import pytest
import tailrace

CONFIG = {
    "name": "sim", "memory": {"budget": "8 MiB"}, "time": {"dt": 0.5, "unit": "s"},
    "format": {"kind": "plain", "file": "sim_It{iteration}_Pr{client}.h5"},
    "layouts": {"plane": {"type": "float64", "shape": [3, 6]}},
    "variables": {"T": {"layout": "plane", "unit": "K", "dataset": "fields/T/P{client}"}}}


@pytest.fixture
def folder(tmp_path):
    """Has three iterations of two clients."""
    for client in range(2):
        with tailrace.open(CONFIG, client, path=tmp_path) as opened:
            for step in range(3):
                opened.write("T", step, np.ones((3, 6)))
                opened.end_iteration(step)
    (tmp_path / "other_It1.h5").write_bytes(b"of another program")
    return tmp_path


def test_a_directory(run, folder):
    code, text, message = run("inspect", folder)
    assert code == 0 and message == ""
    rows = [line.split() for line in text.splitlines()]
    for client in range(2):
        assert [f"sim_It{{iteration}}_Pr{client}.h5", "3", "0", "…", "2", "0", "s", "…", "1", "s"] in [
            row[:-2] for row in rows]
        assert [f"fields/T/P{client}", "float64"] in [row[:2] for row in rows]
    assert "in total: 6 files" in text


def test_a_file(run, folder):
    code, text, message = run("inspect", folder / "sim_It2_Pr1.h5", "--json")
    assert code == 0 and message == ""
    ((iteration,),) = (one["iterations"] for one in json.loads(text))
    assert (iteration["iteration"], iteration["time"]) == (2, 1.0)
    assert [(one["name"], one["shape"]) for one in iteration["variables"]] == [("fields/T/P1", [3, 6])]


def test_join_says_why_not(run, folder):
    code, _, message = run("join", folder)
    assert code == 1
    assert "found files of the format plain (sim_It{iteration}_Pr0.h5), which do not say where" in message
