"""`make demo-openfoam`, tiny: it prints a table, finds equal files, and draws."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(shutil.which("blockMesh") is None, reason="no OpenFOAM here")
COMPARE = pathlib.Path(__file__).parents[2] / "lab/pitz_daily/compare.py"


def run(*words):
    return subprocess.run([sys.executable, "-B", COMPARE, *map(str, words)], capture_output=True, text=True,
                          timeout=600, check=False)


def test_the_demo(tmp_path):
    done = run("--refine", 1, "--outputs", 2, "--rounds", 1, "--shares", 0.5, "--ranks", 2, "--dir", tmp_path)
    assert done.returncode == 0, done.stderr
    for way in ("nothing", "uncollated", "collated", "tailrace thread", "tailrace core"):
        assert any(line.startswith(way) for line in done.stdout.splitlines()), done.stdout
    assert "2 processes" in done.stdout and "the files are equal" in done.stdout
    study = json.loads((tmp_path / "pitz_daily.json").read_text())["studies"][0]
    assert study["ways"]["tailrace thread"]["mebibytes"] == study["ways"]["uncollated"]["mebibytes"] > 1
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"pitz_daily.json", "trace.json", "times.png", "trace_timeline.png", "flow.png"}


def test_what_it_needs(tmp_path):
    done = run("--refine", "many")
    assert done.returncode == 2 and "invalid int value" in done.stderr
