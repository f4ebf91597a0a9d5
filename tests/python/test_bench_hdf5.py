"""The benchmark of the HDF5 connector, tiny, so that it does not rot."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def test_it_runs_all_patterns_in_small(tmp_path):
    if not (ROOT / "build/release/bench/hdf5/hdf5_bench").exists():
        pytest.skip("hdf5_bench is not built, as there is no shared HDF5 (tools/build_hdf5_tests.sh)")
    done = subprocess.run([sys.executable, ROOT / "bench/hdf5/run.py", "--quick", "--dir", tmp_path], check=True,
                          capture_output=True, text=True, timeout=300)
    assert done.stdout.count("bar ") == 7 and list(tmp_path.iterdir()) == []
