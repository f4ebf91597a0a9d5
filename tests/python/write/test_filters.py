"""`compress` and `precision`: independent readers read what the filters made, in both places, whichever process
dies."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import sys
import textwrap

import h5py
import numpy as np
import pytest

import tailrace

hdf5plugin = pytest.importorskip("hdf5plugin", reason="h5py cannot read zstd here: no hdf5plugin")

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: {kind}, filter_threads: {threads}}}
memory: {{budget: {budget}}}
storage: {{path: {path}}}
measurements: {{report: true}}
layouts: {{field: {{type: float64, shape: [300, 500]}}}}
variables:
  plain: {{layout: field}}
  packed: {{layout: field, compress: {{filter: zstd, chunk: 100 KiB, adaptive: {adaptive}}}}}
  deflated: {{layout: field, compress: {{filter: deflate, level: 4, shuffle: false, adaptive: {adaptive}}}}}
  half: {{layout: field, compress: {{filter: zstd, adaptive: {adaptive}}}, precision: float16}}
"""
NAMES = ("plain", "packed", "deflated", "half")


def values(name: str, iteration: int, client: int = 0) -> np.ndarray:
    """Returns smooth data that differ for each name, iteration and client."""
    k = np.arange(300 * 500, dtype=np.float64).reshape(300, 500)
    return np.round(100 * np.sin(k / 1000 + iteration) + client, 2) + NAMES.index(name)


def write_config(tmp_path: pathlib.Path, **keywords: object) -> pathlib.Path:
    """Writes a configuration with these keywords."""
    chosen = {"kind": "thread", "threads": 1, "budget": "64 MiB", "adaptive": "false", **keywords}
    file = tmp_path / "sim.yaml"
    file.write_text(CONFIG.format(path=tmp_path / "out", **chosen))
    return file


def check_file(path: pathlib.Path, iteration: int, client: int = 0) -> None:
    """Checks that h5py reads what was written, and for `half` no further from it than the file says."""
    with h5py.File(path) as file:
        meshes = file[f"data/{iteration}/meshes"]
        assert sorted(meshes) == sorted(NAMES)
        for name in NAMES[:-1]:
            assert np.array_equal(meshes[name][:], values(name, iteration, client)), (path, name)
        half = meshes["half"]
        error = np.abs(half[:].astype(np.float64) - values("half", iteration, client)).max()
        assert half.dtype == np.float16
        assert half.attrs["tailraceLossy"] == b"float16" and half.attrs["tailraceOriginalType"] == b"float64"
        assert error == half.attrs["tailraceLargestError"] > 0 and half.attrs["tailraceOverflows"] == 0
        assert np.array_equal(half[:], values("half", iteration, client).astype(np.float16))


@pytest.mark.parametrize("kind", ["thread", "core"])
@pytest.mark.parametrize("threads", [1, 3])
def test_strangers_read_what_the_filters_made(tmp_path: pathlib.Path, kind: str, threads: int) -> None:
    with tailrace.open(write_config(tmp_path, kind=kind, threads=threads)) as out:
        for iteration in range(4):
            for name in NAMES:
                out.write(name, iteration, values(name, iteration))
            assert np.array_equal(out.read("packed", iteration), values("packed", iteration))
            assert np.abs(out.read("half", iteration) - values("half", iteration)).max() < 0.1
            out.end_iteration(iteration)
        out.flush()
        stats = out.variable_stats("packed")
        assert stats.blocks_written == 4 and stats.bytes_written == 4 * 8 * 150000
        assert stats.chunks_filtered == 4 * 12 and stats.chunks_relaxed == stats.chunks_skipped == 0
        assert stats.bytes_filtered == 4 * 8 * 150000 > 2 * stats.bytes_stored > 0
        assert stats.filtering.count == 4
        assert out.variable_stats("plain").chunks_filtered == 0
    for iteration in range(4):
        path = tmp_path / f"out/sim_c0_{iteration:06}.h5"
        check_file(path, iteration)
        with h5py.File(path) as file:
            dataset = file[f"data/{iteration}/meshes/packed"]
            assert "tailraceFilterRelaxed" not in dataset.attrs
            assert dataset.id.get_storage_size() < dataset.size * 4


def test_filters_give_way_when_memory_is_short(tmp_path: pathlib.Path) -> None:
    """With room for little more than an iteration, some chunks are relaxed or skipped, and the files say how many.
    Where the system gives the filters the processor for each block, none is: then the program runs again."""
    assert any(_chunks_that_gave_way(tmp_path / str(run)) for run in range(20)), "1.2 MiB blocks in 6 MiB"


def _chunks_that_gave_way(directory: pathlib.Path) -> int:
    count = 30
    blocks = [{name: values(name, iteration) for name in NAMES} for iteration in range(count)]
    directory.mkdir()
    with tailrace.open(write_config(directory, budget="6 MiB", adaptive="true")) as out:
        for iteration in range(count):
            for name in NAMES:
                out.write(name, iteration, blocks[iteration][name])
            out.end_iteration(iteration)
        out.flush()
        stats = {name: out.variable_stats(name) for name in NAMES}
    relaxed = skipped = 0
    for iteration in range(count):
        path = directory / f"out/sim_c0_{iteration:06}.h5"
        check_file(path, iteration)
        with h5py.File(path) as file:
            for name in NAMES:
                noted = file[f"data/{iteration}/meshes/{name}"].attrs.get("tailraceFilterRelaxed", (0, 0))
                relaxed, skipped = relaxed + int(noted[0]), skipped + int(noted[1])
    assert relaxed == sum(of.chunks_relaxed for of in stats.values())
    assert skipped == sum(of.chunks_skipped for of in stats.values())
    return relaxed + skipped


CLIENT = """\
import select
import sys
sys.path[:0] = [sys.argv[1]]
import tailrace
from test_filters import NAMES, values
client = int(sys.argv[3])
with tailrace.open(sys.argv[2], client=client) as out:
    print("open", flush=True)
    iteration = 0
    while iteration < 6 or not select.select([sys.stdin], [], [], 0)[0]:
        for name in NAMES:
            out.write(name, iteration, values(name, iteration, client))
        out.end_iteration(iteration)
        iteration += 1
    out.flush()
    print(iteration, out.stats()["failures"], flush=True)
"""


def servers_of(directory: pathlib.Path) -> list[int]:
    """Returns the processes that serve this output directory; they hold their log in it open."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() != "tailrace-core":
                continue
            descriptors = list((process / "fd").iterdir())
        except OSError:  # it has ended
            continue
        if any(target_of(descriptor).startswith(str(directory)) for descriptor in descriptors):
            found.append(int(process.name))
    return found


def target_of(descriptor: pathlib.Path) -> str:
    """Returns the file of a process's descriptor, or "" if it was closed meanwhile, as those of output files are."""
    with contextlib.suppress(OSError):
        return str(descriptor.readlink())
    return ""


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_a_server_that_is_killed_while_it_filters(tmp_path: pathlib.Path, adaptive: str) -> None:
    config = write_config(tmp_path, kind="core", budget="12 MiB", adaptive=adaptive)
    clients = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(CLIENT), pathlib.Path(__file__).parent, config,
                                 str(client)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
               for client in range(3)]
    counts = []
    try:
        for client in clients:
            assert client.stdout is not None and client.stdout.readline() == "open\n"
        killed = 0
        # More files have appeared each time, so that the deaths hit different work.
        for files in (1, 5, 11):
            while len(list(tmp_path.glob("out/*.h5"))) < files and any(client.poll() is None for client in clients):
                pass
            for server in servers_of(tmp_path / "out"):
                subprocess.run(["kill", "-9", str(server)], check=False)
                killed += 1
        for client in clients:
            assert client.stdin is not None
            client.stdin.close()  # it ends now
        for client in clients:
            # Not communicate(), which would lose what readline() has read ahead.
            assert client.wait(timeout=600) == 0 and client.stdout is not None
            count, failures = client.stdout.read().split()
            assert failures == "0"
            counts.append(int(count))
        assert killed > 0
    finally:
        for client in clients:
            client.kill()
    assert len(list(tmp_path.glob("out/*.h5"))) == sum(counts) and not list(tmp_path.glob("out/*.part"))
    for client, count in enumerate(counts):
        for iteration in range(count):
            check_file(tmp_path / f"out/sim_c{client}_{iteration:06}.h5", iteration, client)
