"""Directories of benchmarks: they are removed however the benchmark ends."""

import pathlib
import subprocess
import sys

BENCHMARK = """
import os, pathlib, signal, sys
from tailrace_lab.bench.scratch import Scratch
with Scratch([pathlib.Path(sys.argv[1])]) as scratch:
    (scratch.of("run")[0] / "file").write_bytes(b"1")
    {end}
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
"""


def ends(directory: pathlib.Path, end: str) -> int:
    return subprocess.run([sys.executable, "-c", BENCHMARK.format(end=end), directory], timeout=60).returncode


def test_nothing_is_left(tmp_path: pathlib.Path) -> None:
    assert ends(tmp_path / "new" / "one", "pass") == 0 and not list(tmp_path.iterdir())
    assert ends(tmp_path, "os.kill(os.getpid(), signal.SIGTERM)") == 128 + 15 and not list(tmp_path.iterdir())
    assert ends(tmp_path, "raise KeyboardInterrupt") != 0 and not list(tmp_path.iterdir())
