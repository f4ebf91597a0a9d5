"""The benchmark of the HDF5 connector with tiny sizes, so that it does not rot."""

import argparse
import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
sys.path.append(str(ROOT / "lab/hdf5"))

import vol_async  # noqa: E402


def test_it_runs_all_patterns_in_small(tmp_path):
    if not (ROOT / "build/release/lab/hdf5/hdf5_bench").exists():
        pytest.skip("hdf5_bench is not built, as there is no shared HDF5 (tools/build_hdf5_tests.sh)")
    result = tmp_path / "hdf5.json"
    done = subprocess.run([sys.executable, ROOT / "lab/hdf5/run.py", "--quick", "--dir", tmp_path, "--json", result],
                          check=True, capture_output=True, text=True, timeout=600)
    assert done.stdout.count("bar ") == 27 and list(tmp_path.iterdir()) == [result]
    rows = json.loads(result.read_text())["rows"]
    assert len(rows) == 30 and sum(row["bar"] is not None for row in rows) == 27
    assert all(row["ratio"]["least"] <= row["ratio"]["median"] <= row["ratio"]["most"] for row in rows)
    assert done.stdout.endswith("vol-async: not measured (--vol-async PREFIX)\n")



@pytest.mark.parametrize("thread_safe, loaded, theirs", [
    (True, True, "0.500 (0.500 … 0.500)"), (True, False, "2 × not vol-async"), (False, True, "2 × not its HDF5"),
    (None, None, "2 × did not end in 3 s"),
])
def test_what_vol_async_does_not_do_is_a_result(tmp_path, capsys, thread_safe, loaded, theirs):
    def start(_folder, options, connector, limit, added):
        if "HDF5_VOL_CONNECTOR" not in added:
            report = {"total": 0.25 if connector == "" else 1.0, "thread_safe": True, "vol_async": False}
        elif loaded is None:
            raise subprocess.TimeoutExpired(options, limit)
        else:
            report = {"total": 0.5, "thread_safe": thread_safe, "vol_async": loaded}
        return subprocess.CompletedProcess(options, 0, json.dumps(report), "")

    arguments = argparse.Namespace(quick=True, rounds=2, limit=3, connector="", vol_async=tmp_path)
    vol_async.measure(tmp_path, arguments, 1, start)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2 + 5 and all(theirs in line for line in said[2:])
    assert all(line.endswith("0.5 (0.5 … 0.5)" if thread_safe and loaded else "none") for line in said[2:])


def test_a_folder_without_vol_async_is_told(tmp_path):
    assert f"found no libh5async.so in {tmp_path / 'lib'}, expected" in vol_async.missing(tmp_path)
