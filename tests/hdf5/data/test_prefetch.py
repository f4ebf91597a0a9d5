"""The HDF5 connector prefetches for sequential readers: `prefetch=SIZE`.

The final summary says what was predicted, which is the same in each run; how much of it came before the reader is
not. TAILRACE_SEED=… repeats the random parts.
"""

import os
import random
import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
from conftest import REPOSITORY
from hdf5.carried import PLACES, environment, execute, without
from tailrace import cli
from tailrace.cli import run as run_command

PROGRAM = REPOSITORY / "tests/hdf5/programs/random_calls.py"
ROW = 1 << 20  # bytes; 16 of them in each dataset

READ = """
import os, sys
import h5py
file = h5py.File(sys.argv[1], sys.argv[2])
data, other, chunks, small = file["data"], file["other"], file["chunks"], file["small"]
"""


@pytest.fixture
def rows(tmp_path):
    """Makes a file of datasets whose rows contain their numbers."""
    values = np.broadcast_to(np.arange(16.0)[:, None], (16, ROW // 8))
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        file["data"] = file["other"] = values
        file.create_dataset("chunks", data=values, chunks=(1, ROW // 8))
        file["small"] = values[:, :1000]
    return tmp_path / "rows.h5"


def run(directory, code, *arguments, place="thread", prefetch="8MiB"):
    """Returns the program's standard output and standard error."""
    added = run_command.variables(None, place, "16MiB", {}, summary=True, prefetch=prefetch)
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                          timeout=600, env={**without(directory), **added}, check=False)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
    return done.stdout, done.stderr


def foreseen(summary):
    """Returns the ranges, and the MiB in them."""
    found = re.search(r"tailrace: (\d+) ranges? of HDF5 data, ([\d.]+) MiB, foreseen for sequential readers; "
                      r"([\d.]+) MiB prefetched\n", summary)
    assert found and float(found[3]) <= float(found[2]), summary
    return int(found[1]), float(found[2])


@pytest.mark.parametrize("code, ranges, mib", [
    ("for i in range(16): assert (data[i] == i).all()", 14, 14),
    ("for i in range(16): assert (file['data'][i] == i).all()", 14, 14),
    ("for i in range(16): assert data[i, 0] == i", 0, 0),
    ("for i in range(15, -1, -1): assert (data[i] == i).all()", 13, 13),
    ("for i in (0, 4, 8, 12): assert (data[i] == i).all()", 1, 1),
    ("for i in (0, 7, 3, 12, 5, 14, 9, 2): assert (data[i] == i).all()", 0, 0),
    ("for i in range(0, 16, 2): assert (data[i:i + 2, 1:] > i - 1).all()", 5, 10),
    ("for i in range(0, 16, 4): assert (data[i:i + 4, ::3] >= i).all()", 0, 0),
    ("for i in range(16): assert (data[i] == other[i]).all()", 28, 28),
    ("for i in range(16): assert (chunks[i] == i).all()", 0, 0),
    ("for i in range(16): assert (small[i] == i).all()", 0, 0),
    ("assert data[:].sum() == other[:].sum()", 0, 0),
], ids=["rows", "rows of what is opened each time", "elements", "back", "strides", "random", "most of two rows",
        "less than half", "two datasets", "chunks", "small reads", "all at once"])
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_what_sequential_readers_will_ask_for_is_foreseen(tmp_path, rows, code, ranges, mib, mode):
    assert foreseen(run(tmp_path, READ + code, rows, mode)[1]) == (ranges, mib)


@pytest.mark.parametrize("place", PLACES)
def test_who_writes_and_reads_sees_what_was_written(tmp_path, place):
    _, said = run(tmp_path, f"""
import h5py, numpy
with h5py.File({str(tmp_path / "a.h5")!r}, "w") as file:
    data = file.create_dataset("x", (16, 1 << 17), "f8")
    for turn in range(3):
        for i in range(16):
            data[i] = turn + i
            assert (data[i] == turn + i).all()
        assert all((data[i] == turn + i).all() for i in range(16))
""", place=place)
    assert foreseen(said)[0] == 3 * 2 * 14


def test_never_more_than_was_allowed(tmp_path, rows):
    code = READ + "for i in range(16): assert (data[i] == i).all()"
    assert foreseen(run(tmp_path, code, rows, "r", prefetch="300kB")[1]) == (14, 4.0)


def test_nothing_is_prefetched_unless_it_is_asked_for(tmp_path, rows):
    code = READ + "for i in range(16): assert (data[i] == i).all()\nprint(len(os.listdir('/proc/self/task')))"
    threads, said = run(tmp_path, code, rows, "r", prefetch=None)
    assert said == "tailrace: no write of HDF5 data was carried (place thread)\n"
    assert threads == execute(sys.executable, "-c", code, rows, "r", env=without(tmp_path))


def test_it_is_in_the_page_cache_before_it_is_read(tmp_path):
    """Reads the last of several slabs far apart, where no system reads ahead by itself."""
    name = tmp_path / "a.h5"
    with h5py.File(name, "w") as file:
        file["x"] = np.ones((64, ROW // 8))
    said, _ = run(tmp_path, f"""
import ctypes, os
import h5py, numpy
libc = ctypes.CDLL(None, use_errno=True)
with open({str(name)!r}, "rb+") as raw:
    os.fsync(raw.fileno())
    os.posix_fadvise(raw.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
seen = numpy.memmap({str(name)!r}, mode="r")
def resident(row):
    begin = seen.ctypes.data + data.id.get_offset() // 4096 * 4096 + row * {ROW}
    pages = (ctypes.c_ubyte * {ROW // 4096})()
    assert libc.mincore(ctypes.c_void_p(begin), {ROW}, pages) == 0
    return all(page & 1 for page in pages)
file = h5py.File({str(name)!r})
data = file["x"]
data[0], data[20]
if resident(60):
    print("warm")
else:
    data[40]
    while not resident(60):
        os.sched_yield()
    print("brought")
""")
    if said == "warm\n":
        pytest.skip("this file system keeps in memory what it is told to forget")
    assert said == "brought\n"


@pytest.mark.parametrize("place", PLACES)
def test_random_programs_read_what_plain_hdf5_reads(tmp_path, place):
    seed = int(os.environ.get("TAILRACE_SEED", random.randrange(1 << 32)))
    for each in range(seed, seed + (1 if "TAILRACE_SEED" in os.environ else 5)):
        print("TAILRACE_SEED:", each)
        plain = execute(sys.executable, PROGRAM, each, tmp_path / "plain.h5", env=without(tmp_path))
        env = environment(tmp_path, place)
        env["HDF5_VOL_CONNECTOR"] += " prefetch=1000000"
        ours = execute(sys.executable, PROGRAM, each, tmp_path / "ours.h5", env=env)
        assert ours == plain, f"read something else; repeat with TAILRACE_SEED={each}"


def test_a_closed_file_is_not_held(tmp_path, rows):
    said, _ = run(tmp_path, READ + """
held = lambda: [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}") and
                os.path.samefile(f"/proc/self/fd/{name}", sys.argv[1])]
for i in range(8):
    data[i]
group = file["/"]
del other, chunks, small, data
print(len(held()))
file.close()
print(len(held()))
""", rows, "r")
    assert said.split() == ["2", "0"]


def test_a_forked_child_reads_ahead_too(tmp_path, rows):
    """With a thread of its own: for files that the parent has open, and those that it opens itself."""
    said, _ = run(tmp_path, READ + """
for i in range(8):
    data[i]
pid = os.fork()
if pid == 0:
    whole = all((data[i] == i).all() for i in range(16)) and len(os.listdir("/proc/self/task")) == 2
    file.close()
    with h5py.File(sys.argv[1], "r") as again:
        whole = whole and all((again["data"][i] == i).all() for i in range(16))
    os._exit(0 if whole else 1)
print(os.waitpid(pid, 0)[1], all((data[i] == i).all() for i in range(8, 16)))
""", rows, "r")
    assert said == "0 True\n"


@pytest.mark.parametrize("word", ["prefetch", "prefetch=", "prefetch=much", "prefetch=1MxB", "prefetch=-1"])
def test_a_wrong_word_is_told(tmp_path, rows, word):
    done = subprocess.run([sys.executable, "-c", f"import h5py; h5py.File({str(rows)!r})"], capture_output=True,
                          text=True, timeout=600, check=False,
                          env={**environment(tmp_path), "HDF5_VOL_CONNECTOR": f"tailrace {word}"})
    assert done.returncode != 0 and f"found '{word}', expected config=FILE" in done.stderr
    assert "prefetch=SIZE" in done.stderr


@pytest.mark.parametrize("size, words", [("much", "expected a size"), ("0 B", "expected at least 1 B"),
                                         ("-1 MiB", "expected at least 1 B"), ("64", "with a unit")])
def test_run_says_what_is_wrong(size, words, capsys):
    assert cli.main(["run", f"--prefetch={size}", "--", "true"]) == 2
    assert words in capsys.readouterr().err


def test_run_tells_the_connector(capsys):
    assert cli.main(["run", "--place", "core", "--prefetch", "64 MiB", "--print"]) == 0
    assert "HDF5_VOL_CONNECTOR='tailrace place=core prefetch=67108864'" in capsys.readouterr().out
