"""Nonblocking collective reads: by aggregators, in the background, where nodes have page caches of their own."""

import pytest
from test_mpiio import mpi, program, start  # noqa: F401


@pytest.mark.parametrize("way, ranks", [("calls", 2), ("orders", 2), ("late", 3), ("split", 2)])
@pytest.mark.parametrize("node_size", [None, 1], ids=["one node", "nodes of one process"])
def test_programs_end_and_have_read_what_was_written(tmp_path, mpi, way, ranks, node_size, monkeypatch):  # noqa: F811
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    done = start(mpi, ranks, [program(mpi, "read_io"), way, tmp_path / "file"], "", node_size)
    assert done.returncode == 0 and done.stdout == "right\n", done.stdout + done.stderr
