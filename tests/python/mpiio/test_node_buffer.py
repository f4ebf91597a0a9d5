"""Collective writes whose bytes meet in a buffer of the node, which any of its processes may hand over."""

import os
import re

import pytest
from test_mpiio import mpi, program, start  # noqa: F401


@pytest.mark.parametrize("way, ranks", [("plain", 2), ("views", 3), ("mixed", 2), ("files", 2), ("message", 2),
                                        ("memory", 3)])
def test_programs_end_and_their_files_are_right(tmp_path, mpi, way, ranks, monkeypatch):  # noqa: F811
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    done = start(mpi, ranks, [program(mpi, "buffer_io"), way, tmp_path / "file"], "")
    assert done.returncode == 0 and done.stdout == "right\n", done.stdout + done.stderr
    assert not list(tmp_path.glob("run.*.buffer-*")), "the buffer's name goes when all have opened it"


@pytest.mark.parametrize("way", ["leave", "signal"])
def test_bytes_of_a_process_that_leaves_are_written(tmp_path, mpi, way, monkeypatch):  # noqa: F811
    """The other process has not written yet; so they are still in the buffer."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    file = tmp_path / "file"
    start(mpi, 2, [program(mpi, "buffer_io"), way, file], "")
    assert os.path.getsize(file) == 200 * 99 + 100
    written = file.read_bytes()
    assert all(written[at:at + 100] == b"a" * 100 for at in range(0, len(written), 200))


@pytest.mark.parametrize("settings, told, processes", [
    ("", r"; \d+\.\d MiB met in buffers of the node\n", 2),
    ("collective=two_phase", r"; 90 collective writes through aggregators: exchanged in \d+\.\d{3} s, written in "
                             r"\d+\.\d{3} s\n", 1)])
def test_the_summary_says_how_collective_writes_were_made(tmp_path, mpi, settings, told, processes,  # noqa: F811
                                                          monkeypatch):
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    done = start(mpi, 2, [program(mpi, "buffer_io"), "many", tmp_path / "file"], f"{settings} summary")
    assert done.stdout == "right\n" and len(re.findall(told, done.stderr)) == processes, done.stderr
