"""Deaths and full disks with the HDF5 connector: flushed data are there, and HDF5 itself reports lost data.

TAILRACE_TEST_SEED=… repeats the random parts.
"""

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys

import h5py
import pytest
from hdf5.carried import PLACES, environment, python
from tailrace.cli import core_server

ROWS = 24

# Forks a writer several times, and kills it while it writes rows that contain their number + 1. Prints for each its
# file, and how many rows it had handed over and flushed.
KILLER = """
import json, os, random, signal, sys
import h5py, numpy

def work(pipe, name, rows):
    with h5py.File(name, "w") as file:
        data = file.create_dataset("rows", (rows, 32768), "f8")
        file.flush()
        for row in range(rows):
            data[row] = row + 1.0
            os.write(pipe, b"h")
            if row % 3 == 2:
                file.flush()
                os.write(pipe, b"f")
    os.write(pipe, b"f")
    signal.pause()

rows, moments = int(sys.argv[2]), random.Random(int(sys.argv[3]))
for kill in range(8):
    name = f"{sys.argv[1]}/kill{kill}.h5"
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        work(write_end, name, rows)
    os.close(write_end)
    said = b"".join(os.read(read_end, 1) for _ in range(moments.randrange(1, rows + rows // 3)))
    for _ in range(moments.randrange(20000)):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(read_end, "rb") as pipe:
        said += pipe.read()
    print(json.dumps([name, said.count(b"h"), said[:said.rfind(b"f") + 1].count(b"h")]))
"""

# Writes the given rows, and flushes every fourth.
WRITER = f"""
import sys
import h5py
with h5py.File(sys.argv[1], "w") as file:
    rows = file.create_dataset("rows", ({ROWS}, 32768), "f8")
    chunks = file.create_dataset("chunks", ({ROWS}, 32768), "f8", chunks=(1, 32768), compression=1)
    for line in sys.stdin:
        row = int(line)
        rows[row] = row + 1.0
        chunks[row] = row + 1.0
        if row % 4 == 3:
            file.flush()
        print(row, flush=True)
"""

# Writes in three parts, prints where a failure was reported, and then ends: HDF5 itself may crash when it closes what
# it could not write.
FILLER = """
import os, resource, sys
import h5py, numpy
more = {"chunks": {"chunks": (64, 128), "compression": 1}, "contiguous": {}}[sys.argv[2]]
rows = int(sys.argv[3])
if len(sys.argv) > 4:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), -1))
where = "create"
try:
    file = h5py.File(sys.argv[1], "w")
    for part in range(3):
        data = file.create_dataset(f"part{part}", (rows, 128), "f8", **more)
        where = f"write {part}"
        data[:] = numpy.random.default_rng(part).random((rows, 128))
        where = f"flush {part}"
        file.flush()
    data[:100] = 1.0
    where = "close"
    file.close()
    where = "nowhere"
except (OSError, RuntimeError) as error:
    print(where, "told", error, flush=True)
os._exit(0)
"""


@pytest.fixture
def seed():
    chosen = int(os.environ.get("TAILRACE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"TAILRACE_TEST_SEED={chosen}")
    return chosen


@pytest.fixture(autouse=True)
def runtime_directory(tmp_path, monkeypatch):
    """The runtime directory of environment(), so that its jobs are known here."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))


def servers():
    return [one["process"] for job in core_server.jobs() for one in job["servers"] if one.get("alive")]


def wait_for_end(pid):
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        try:
            assert select.select([handle], [], [], 60)[0], f"process {pid} does not end"
        finally:
            os.close(handle)


def check_rows(data, count):
    for row in range(count):
        assert (data[row] == row + 1.0).all(), f"row {row} of {count} in {data.file.filename}"


@pytest.mark.parametrize("place", PLACES)
def test_a_killed_program_leaves_what_it_flushed(tmp_path, seed, place):
    """In place core, everything handed over is there too: the server writes it, and then ends. As with plain HDF5,
    the dataset of a killed program has its place in the file since the flush after its first row."""
    said = python(KILLER, tmp_path, ROWS, seed, env=environment(tmp_path, place))
    for server in servers():
        wait_for_end(server)
    kills = [json.loads(line) for line in said.splitlines()]
    assert len(kills) == 8
    for name, handed_over, flushed in kills:
        with h5py.File(name) as file:
            check_rows(file["rows"], handed_over if place == "core" and flushed > 0 else flushed)


def test_a_killed_server_is_replaced(tmp_path, seed):
    moments = random.Random(seed)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "a.h5"], env=environment(tmp_path, "core"),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def tell(rows):
        writer.stdin.write("".join(f"{row}\n" for row in rows))
        writer.stdin.flush()

    def listen(rows):
        assert [writer.stdout.readline() for _ in rows] == [f"{row}\n" for row in rows], writer.stderr.read()

    killed = set()
    for begin in range(0, ROWS, 8):
        before, under_way = range(begin, begin + 4), range(begin + 4, begin + 8)
        tell(before)
        listen(before)  # flushed, so there is a server
        tell(under_way)
        for _ in range(moments.randrange(100000)):
            pass
        (server,) = servers()
        os.kill(server, signal.SIGKILL)
        wait_for_end(server)
        killed.add(server)
        listen(under_way)
    _, complaints = writer.communicate(timeout=600)
    assert writer.returncode == 0 and len(killed) == 3, complaints
    with h5py.File(tmp_path / "a.h5") as file:
        check_rows(file["rows"], ROWS)
        check_rows(file["chunks"], ROWS)


LOSER = """
import os, sys
import h5py, numpy
file = h5py.File(sys.argv[1], "w")
data = file.create_dataset("x", (100000,), "f8")
data[:] = 1.0
file.flush()
print("open", flush=True)
sys.stdin.readline()
for what in sys.argv[2:]:
    try:
        if what == "write":
            data[:] = 2.0
        elif what == "flush":
            file.flush()
        else:
            file.close()
    except (OSError, RuntimeError) as error:
        print(what, "told", error, flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("calls", [["write", "flush", "close"], ["write", "close"]])
def test_a_lost_server_without_another_is_told(tmp_path, calls):
    config = tmp_path / "fail.yaml"
    config.write_text("tailrace: 1\nname: hdf5\nplace: {kind: core, on_server_loss: fail}\nstorage: {path: out}\n"
                      "memory: {budget: 4 MiB}\n")
    loser = subprocess.Popen([sys.executable, "-c", LOSER, tmp_path / "a.h5", *calls], cwd=tmp_path, text=True,
                             env=environment(tmp_path, config=config), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    assert loser.stdout.readline() == "open\n"
    (server,) = servers()
    os.kill(server, signal.SIGKILL)
    wait_for_end(server)
    said, complaints = loser.communicate("go on\n", timeout=600)
    assert said.startswith(f"{calls[1]} told") and f"server (process {server}) has died" in said, complaints


# The earliest and the latest call that can report it.
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["contiguous", "chunks"])
@pytest.mark.parametrize("free_kib, where", [(8, ["write 0", "flush 0"]), (350, ["write 1", "flush 1"]),
                                             (650, ["write 2", "flush 2"])])
def test_a_full_disk_is_told(tmp_path, small_disk, place, kind, free_kib, where):
    (small_disk / "filler").write_bytes(bytes((1024 - free_kib) << 10))
    said = python(FILLER, small_disk / "a.h5", kind, 256, env=environment(tmp_path, place))
    assert "told" in said and said.startswith(tuple(where)), said
    assert "No space left on device" in said and f"'{small_disk}/a.h5'" in said


@pytest.mark.parametrize("place", PLACES)
def test_a_limit_of_the_size_of_files_is_told(tmp_path, place):
    said = python(FILLER, tmp_path / "a.h5", "contiguous", 2048, 3 << 20, env=environment(tmp_path, place, "1MiB"))
    assert said.startswith(("write 1 told", "flush 1 told")) and "File too large" in said, said


def test_what_fails_after_the_last_call_is_told_on_standard_error(tmp_path, small_disk):
    """A program that leaves its file open."""
    code = ("import sys, h5py, numpy\n"
            "file = h5py.File(sys.argv[1], 'w')\n"
            "file.create_dataset('x', (1 << 18,), 'f8')[:] = 1.0\n")
    done = subprocess.run([sys.executable, "-c", code, small_disk / "a.h5"], env=environment(tmp_path),
                          capture_output=True, text=True, timeout=600)
    assert "No space left on device" in done.stderr and f"{small_disk}/a.h5" in done.stderr
