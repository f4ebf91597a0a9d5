"""`close=detach`: a program that writes a file after each step does not wait for it, and no reader mistakes half a
file for a whole one.

TAILRACE_SEED=… repeats the random parts.
"""

import contextlib
import json
import os
import random
import re
import select
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
from conftest import REPOSITORY
from hdf5.carried import PLACES, environment, execute, python, without
from hdf5.detached import lacks_seal, stopped_server
from hdf5.same import assert_same

PROGRAM = REPOSITORY / "tests/hdf5/programs/random_calls.py"

# Writes a file after each step, with data that are carried, filtered, and left to HDF5.
STEPS = """
import sys
import h5py, numpy
for step in range(int(sys.argv[2])):
    with h5py.File(f"{sys.argv[1]}/step_{step:06}.h5", "w") as file:
        file.attrs["step"] = step
        file.create_dataset("field", (200, 1000), "f8")[:] = numpy.arange(200000.0).reshape(200, 1000) + step
        file.create_dataset("filtered", (200, 1000), "f4", chunks=(50, 1000), compression=1)[:] = step
        file.create_dataset("filled", (100, 1000), "i4", fillvalue=7)[:10] = step
        file.create_group("group")["small"] = numpy.arange(10) + step
"""


@pytest.fixture
def detached(tmp_path, monkeypatch):
    """Runs Python code with the connector; returns what it printed."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))

    def start(text, *arguments, place="thread", **more):
        return python(text, *arguments, env=environment(tmp_path, place, close="detach"), **more)
    return start


def names(directory):
    return sorted(entry.name for entry in directory.iterdir() if ".h5" in entry.name)


@pytest.mark.parametrize("place", PLACES)
def test_files_are_those_of_plain_hdf5(detached, tmp_path, place):
    (tmp_path / "plain").mkdir()
    (tmp_path / "ours").mkdir()
    python(STEPS, tmp_path / "plain", 4, env=without(tmp_path))
    detached(STEPS, tmp_path / "ours", 4, place=place)
    assert names(tmp_path / "ours") == names(tmp_path / "plain") == [f"step_{step:06}.h5" for step in range(4)]
    for name in names(tmp_path / "plain"):
        assert_same(tmp_path / "plain" / name, tmp_path / "ours" / name)


@pytest.mark.parametrize("place", PLACES)
def test_many_small_files(detached, tmp_path, place):
    """More files than tailrace opens at once, and some of which nothing is carried."""
    (tmp_path / "ours").mkdir()
    detached("""
import sys
import h5py, numpy
for step in range(200):
    with h5py.File(f"{sys.argv[1]}/{step}.h5", "w") as file:
        file["x"] = numpy.full(8192 if step % 3 else 8, step)
""", tmp_path / "ours", place=place)
    assert len(names(tmp_path / "ours")) == 200
    for step in range(200):
        with h5py.File(tmp_path / f"ours/{step}.h5") as file:
            assert (file["x"][:] == step).all()


# Creates a file, reports that, and closes it on request. Then reads it.
CLOSER = """
import os, sys
import h5py
h5py.File(sys.argv[2], "w")["x"] = [1.0] * 100000
with h5py.File(sys.argv[1], "w", userblock_size=int(sys.argv[3])) as file:
    data = file.create_dataset("x", (100000,), "f8")
    data[:10] = 1.0
    assert data[5] == 1.0
    print("open", flush=True)
    sys.stdin.readline()
    data[:] = 2.0
print("closed", flush=True)
sys.stdin.readline()
with h5py.File(sys.argv[1]) as file:
    print((file["x"][:] == 2.0).all(), file.filename == sys.argv[1])
"""


@contextlib.contextmanager
def a_stopped_server(tmp_path, name, userblock=0):
    """A program that has closed a file while the server is stopped; yields program and server."""
    program = subprocess.Popen([sys.executable, "-c", CLOSER, name, tmp_path / "first.h5", str(userblock)], text=True,
                               env=environment(tmp_path, "core", close="detach"), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert program.stdout.readline() == "open\n", program.stderr.read()
        server = stopped_server()
        program.stdin.write("go on\n")
        program.stdin.flush()
        assert program.stdout.readline() == "closed\n", program.stderr.read()
        yield program, server
    finally:
        program.kill()
        program.communicate()


@pytest.mark.parametrize("userblock", [0, 1024])
def test_close_does_not_wait_and_an_open_does(tmp_path, monkeypatch, userblock):
    """The file has its name at once, and the signature by which netCDF recognises HDF5 files; no other process can
    open it."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    name = tmp_path / "a.h5"
    with a_stopped_server(tmp_path, name, userblock) as (program, server):
        assert lacks_seal(name) and names(tmp_path) == ["a.h5", "first.h5"]
        assert name.read_bytes()[userblock:userblock + 8] == b"\x89HDF\r\n\x1a\n"
        with pytest.raises(OSError):
            h5py.File(name)
        os.kill(server, signal.SIGCONT)
        said, complaints = program.communicate("go on\n", timeout=600)
        assert (said, complaints, program.returncode) == ("True True\n", "", 0)
    assert names(tmp_path) == ["a.h5", "first.h5"] and not lacks_seal(name)


def test_who_carries_too_is_told_why_a_file_cannot_be_opened(detached, tmp_path, monkeypatch):
    """With a second process that uses the connector."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    name = tmp_path / "a.h5"
    with a_stopped_server(tmp_path, name) as (_, server):
        said = json.loads(detached(SMALL + """
attempt(lambda: h5py.File(sys.argv[1]))
said.append(str(h5py.is_hdf5(sys.argv[1])))
print(json.dumps(said))
""", name))
        os.kill(server, signal.SIGCONT)
    assert "is incomplete" in said[0] and str(name) in said[0] and said[1] == "False"


def test_what_a_killed_program_had_closed_becomes_whole(tmp_path, monkeypatch):
    """In place core."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    name = tmp_path / "a.h5"
    with a_stopped_server(tmp_path, name) as (program, server):
        program.kill()
        program.wait()
        assert lacks_seal(name)
        handle = os.pidfd_open(server)
        os.kill(server, signal.SIGCONT)
        assert select.select([handle], [], [], 60)[0], "the server does not end"
        os.close(handle)
    with h5py.File(name) as file:
        assert (file["x"][:] == 2.0).all()
    assert names(tmp_path) == ["a.h5", "first.h5"]


@pytest.mark.parametrize("place", PLACES)
def test_a_killed_program_leaves_whole_files_and_some_that_nobody_can_open(tmp_path, place):
    seed = int(os.environ.get("TAILRACE_SEED", random.randrange(1 << 32)))
    print("TAILRACE_SEED:", seed)
    moments = random.Random(seed)
    code = STEPS.replace('file.attrs["step"] = step', 'file.attrs["step"] = step; print(step, flush=True)')
    for attempt in range(4):
        directory = tmp_path / str(attempt)
        directory.mkdir()
        program = subprocess.Popen([sys.executable, "-c", code, directory, "1000"], text=True, stdout=subprocess.PIPE,
                                   env=environment(tmp_path, place, close="detach"), stderr=subprocess.DEVNULL)
        for _ in range(moments.randrange(1, 12)):
            program.stdout.readline()
        for _ in range(moments.randrange(50000)):
            pass
        program.kill()
        program.communicate()
        whole = 0
        for name in names(directory):
            if name.endswith(".partial"):
                continue
            try:
                file = h5py.File(directory / name)
            except OSError:
                continue
            step = int(name[5:11])
            with file:
                assert (file["field"][:] == np.arange(200000.0).reshape(200, 1000) + step).all(), name
                assert (file["filtered"][:] == step).all() and (file["filled"][10:] == 7).all(), name
                assert (file["group/small"][:] == np.arange(10) + step).all(), name
            whole += 1
        print(f"{whole} of {len(names(directory))} files are whole")


SMALL = """
import json, os, sys
import h5py, numpy
said = []
def attempt(what):
    try:
        what()
        said.append("")
    except (OSError, RuntimeError) as error:
        said.append(str(error))
"""


def test_names_are_the_programs(detached, tmp_path):
    said = detached(SMALL + """
os.chdir(sys.argv[1])
os.mkdir("real")
os.symlink("real/target.h5", "link.h5")
h5py.File("real/target.h5", "w").close()
file = h5py.File("a.h5", "w")
file.create_group("g").create_dataset("x", (10000,), "f8")[:] = 1
other = h5py.File(os.path.abspath("a.h5"), "r+")
print(file.filename, file["g/x"].file.filename, os.path.exists("a.h5"), other["g/x"][5], file == other)
with h5py.File("link.h5", "w") as linked:
    linked["x"] = numpy.arange(10000.0)
print(os.listdir("real"), os.path.islink("link.h5"))
with h5py.File("link.h5") as linked:
    print(linked.filename, linked["x"][9], os.path.islink("link.h5"))
file.close()
other["g/x"][:] = 2
other.close()
with h5py.File("a.h5") as file:
    print(file["g/x"][9999])
""", tmp_path / ".").splitlines()
    assert said == ["a.h5 a.h5 True 1.0 True", "['target.h5'] True", "link.h5 9.0 True", "2.0"]
    assert names(tmp_path) == ["a.h5", "link.h5"]


@pytest.mark.parametrize("place", PLACES)
def test_what_hdf5_would_refuse_is_refused(detached, tmp_path, place):
    said = json.loads(detached(SMALL + """
name = sys.argv[1]
with h5py.File(name, "w") as file:
    file["x"] = numpy.arange(10000.0)
attempt(lambda: h5py.File(name, "x"))
reader = h5py.File(name)
attempt(lambda: h5py.File(name, "w"))
said.append(str(reader["x"][5]))
reader.close()
new = h5py.File(name + "x", "w")
for mode in "wx":
    attempt(lambda: h5py.File(name + "x", mode))
new.close()
attempt(lambda: h5py.File(name + "/x", "w"))
said.append(str(h5py.is_hdf5(name + "x")))
print(json.dumps(said))
""", tmp_path / "a.h5", place=place))
    assert "File exists" in said[0] and "already open" in said[1] and said[2] == "5.0"
    assert "already open" in said[3] and "file exists" in said[4].lower() and said[5] and said[6] == "True"
    assert names(tmp_path) == ["a.h5", "a.h5x"]


def test_a_file_that_objects_outlive_is_waited_for(detached, tmp_path):
    """Of every kind: data written through them are in the file, which is never without its seal."""
    said = detached(SMALL + """
from h5py import h5d, h5f, h5g, h5o, h5p, h5s, h5t
def make(name):
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fclose_degree(h5f.CLOSE_WEAK)
    file = h5f.create(name.encode(), h5f.ACC_TRUNC, fapl=access)
    data = h5d.create(file, b"x", h5t.NATIVE_DOUBLE, h5s.create_simple((10000,)))
    data.write(h5s.ALL, h5s.ALL, numpy.arange(10000.0))
    return file, data, h5g.create(file, b"g")
os.chdir(sys.argv[1])
file, data, group = make("data.h5")
del group
file.close()
data.write(h5s.ALL, h5s.ALL, numpy.arange(10000.0) + 1)
del data
print(open("data.h5", "rb").read(16)[8:] == b"tailrace")
file, data, group = make("group.h5")
file.close()
del data
h5g.create(group, b"late")
again = h5d.open(h5o.open(group, b"."), b"/x")
back = numpy.zeros(10000)
again.read(h5s.ALL, h5s.ALL, back)
print(back[9])
del again, group
print(open("group.h5", "rb").read(16)[8:] == b"tailrace")
with h5py.File("data.h5") as one, h5py.File("group.h5") as other:
    print(one["x"][9], list(other), list(other["g"]), other["x"][9])
""", tmp_path / ".").splitlines()
    assert said == ["False", "9.0", "False", "10.0 ['g', 'x'] ['late'] 9.0"]
    assert names(tmp_path) == ["data.h5", "group.h5"]


def test_a_write_that_an_event_set_holds_keeps_no_file_open(detached, tmp_path):
    """H5Dwrite_async, by ctypes: h5py has no event sets."""
    said = detached("""
import ctypes, os, sys
import h5py, numpy
from h5py import h5d, h5f, h5s, h5t
library = next(line.split()[-1] for line in open("/proc/self/maps") if "libhdf5-" in line or "libhdf5.so" in line)
hdf5 = ctypes.CDLL(library)
for function in ("H5EScreate", "H5Dwrite_async"):
    getattr(hdf5, function).restype = ctypes.c_int64
file = h5f.create(sys.argv[1].encode(), h5f.ACC_TRUNC)
data = h5d.create(file, b"x", h5t.NATIVE_DOUBLE, h5s.create_simple((100000,)))
values = numpy.arange(100000.0)
events = ctypes.c_int64(hdf5.H5EScreate())
line, all_of_it = ctypes.c_uint(1), ctypes.c_int64(0)
print(hdf5.H5Dwrite_async(b"", b"", line, ctypes.c_int64(data.id), ctypes.c_int64(h5t.NATIVE_DOUBLE.id), all_of_it,
                          all_of_it, all_of_it, values.ctypes.data_as(ctypes.c_void_p), events))
del data
file.close()
with h5py.File(sys.argv[1]) as again:
    print((again["x"][:] == values).all())
left, failed = ctypes.c_size_t(), ctypes.c_bool()
hdf5.H5ESwait(events, ctypes.c_uint64(2**64 - 1), ctypes.byref(left), ctypes.byref(failed))
print(left.value, failed.value)
""", tmp_path / "a.h5")
    assert said.split() == ["0", "True", "0", "False"] and names(tmp_path) == ["a.h5"]


def test_a_close_that_hdf5_refuses_may_be_made_again(detached, tmp_path):
    said = detached(SMALL + """
from h5py import h5f, h5g, h5p
access = h5p.create(h5p.FILE_ACCESS)
access.set_fclose_degree(h5f.CLOSE_SEMI)
file = h5f.create(sys.argv[1].encode(), h5f.ACC_TRUNC, fapl=access)
group = h5g.create(file, b"g")
attempt(file.close)
del group
attempt(file.close)
print(json.dumps(said))
""", tmp_path / "a.h5")
    refused, closed = json.loads(said)
    assert "objects still open" in refused and closed == "" and names(tmp_path) == ["a.h5"]


# Two files that do not fit. Both failures are reported at their opening at the latest.
FILLER = SMALL + """
more = {"chunks": {"chunks": (64, 128), "compression": 1}, "contiguous": {}}[sys.argv[2]]
def create(name):
    try:
        return h5py.File(name, "w")
    except OSError as error:  # for the file before this one, if its failure is known already; or for want of space
        print(error, file=sys.stderr)
        return h5py.File(name, "w")
for number in range(2):
    def write():
        file = create(f"{sys.argv[1]}/{number}.h5")
        try:
            file.create_dataset("x", (1024, 128), "f8", **more)[:] = numpy.random.default_rng(1).random((1024, 128))
        finally:
            file.close()
    attempt(write)
for number in range(2):
    for _ in range(2):
        attempt(lambda: h5py.File(f"{sys.argv[1]}/{number}.h5"))
print(json.dumps(said), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["contiguous", "chunks"])
def test_a_full_disk_leaves_files_that_nobody_can_open(tmp_path, small_disk, place, kind):
    (small_disk / "filler").write_bytes(bytes(600 << 10))
    done = subprocess.run([sys.executable, "-c", FILLER, small_disk, kind], text=True, capture_output=True,
                          env=environment(tmp_path, place, close="detach"), timeout=600)
    said = json.loads(done.stdout)
    assert names(small_disk) == ["0.h5", "1.h5"]
    # HDF5 says why in the call that gives it the chunks, which may be the close of the dataset.
    why = "No space left on device" + ("|HDF5 could not write the chunk" if kind == "chunks" else "")
    for number in range(2):
        name = f"{small_disk}/{number}.h5"
        told = [each for each in [*said, *done.stderr.splitlines()] if name in each]
        assert any(re.search(why, each) for each in told), "\n".join([*said, done.stderr])
        with pytest.raises(OSError):
            h5py.File(name)
        assert all(said[2 + 2 * number:4 + 2 * number]), said


# a.h5 does not fit. Its failure becomes known while b.h5 is open.
INNOCENT = SMALL + """
from h5py.tests.test_h5z import test_register_filter
os.chdir(sys.argv[1])
b = h5py.File("b.h5", "w")  # before the other's failure can be known: the next creation fails for it
with h5py.File(sys.argv[2] + "/a.h5", "w") as a:
    a["x"] = numpy.ones(1 << 18)
b["y"] = numpy.arange(100000.0)
said.append(str(h5py.is_hdf5(sys.argv[2] + "/a.h5")))  # waits
attempt(b.flush)
attempt(b.close)
said.append(str(bool(b)))
attempt(test_register_filter)  # goes through all files that are open
for name in ("b.h5", "c.h5", "c.h5"):
    attempt(lambda: h5py.File(name, "r" if name == "b.h5" else "w").close())
with h5py.File("b.h5") as b:
    said.append(str(b["y"][99999]))
print(json.dumps(said))
"""


@pytest.mark.parametrize("place", PLACES)
def test_a_failure_does_not_break_the_close_of_another_file(tmp_path, small_disk, place):
    """It appears on standard error at once, and fails the next H5Fcreate once, which leaves nothing behind."""
    done = subprocess.run([sys.executable, "-c", INNOCENT, tmp_path, small_disk], text=True, capture_output=True,
                          env=environment(tmp_path, place, close="detach"), timeout=600)
    assert done.returncode == 0, done.stderr
    accessible, flushed, closed, is_open, filtered, read, created, again, value = json.loads(done.stdout)
    assert (accessible, flushed, closed, is_open, filtered) == ("False", "", "", "False", "")
    assert (read, again, value) == ("", "", "99999.0")
    assert f"'{small_disk}/a.h5' is incomplete" in created and "No space left on device" in created
    assert f"'{small_disk}/a.h5' is incomplete" in done.stderr and "No space left on device" in done.stderr
    assert re.search("1 of [1-4] HDF5 files? that the program closed without waiting is incomplete", done.stderr)
    assert lacks_seal(small_disk / "a.h5") and names(tmp_path) == ["b.h5", "c.h5"]


# Its chunks do not fit, which H5Fclose must report.
GUILTY = SMALL + """
from h5py.tests.test_h5z import test_register_filter
from h5py import h5d, h5f, h5p, h5s, h5t
creation = h5p.create(h5p.DATASET_CREATE)
creation.set_chunk((64, 128))
creation.set_deflate(1)
file = h5f.create(sys.argv[1].encode(), h5f.ACC_TRUNC)
data = h5d.create(file, b"x", h5t.NATIVE_DOUBLE, h5s.create_simple((1024, 128)), creation)
attempt(lambda: data.write(h5s.ALL, h5s.ALL, numpy.random.default_rng(1).random((1024, 128))))
attempt(file.close)
said.append(str(file.valid))
attempt(test_register_filter)
attempt(lambda: h5py.File(sys.argv[2], "w").close())
print(json.dumps(said), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("close", ["detach", "wait"])
def test_a_close_that_fails_gives_its_identifier_back(tmp_path, small_disk, close):
    (small_disk / "filler").write_bytes(bytes(900 << 10))
    done = subprocess.run([sys.executable, "-c", GUILTY, small_disk / "a.h5", tmp_path / "b.h5"], text=True,
                          capture_output=True, env=environment(tmp_path, close=close), timeout=600)
    assert done.returncode == 0, done.stderr
    *earlier, closed, valid, filtered, created = json.loads(done.stdout)
    assert any([*earlier, closed]) and (valid, filtered, created) == ("0", "", ""), done.stdout


def test_what_fails_after_the_last_call_is_told_on_standard_error(tmp_path, small_disk):
    for ending in ("file.close()", ""):
        code = ("import sys, h5py, numpy\n"
                "file = h5py.File(sys.argv[1], 'w')\n"
                f"file.create_dataset('x', (1 << 18,), 'f8')[:] = 1.0\n{ending}\n")
        done = subprocess.run([sys.executable, "-c", code, small_disk / "a.h5"], text=True, capture_output=True,
                              env=environment(tmp_path, close="detach"), timeout=600)
        assert "No space left on device" in done.stderr and f"{small_disk}/a.h5" in done.stderr, ending
        assert names(small_disk) == ["a.h5"] and lacks_seal(small_disk / "a.h5"), ending


@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_is_left_open_is_whole_at_the_end(detached, tmp_path, place):
    detached("import sys, h5py\n"
             "file = h5py.File(sys.argv[1], 'w')\n"
             "file.create_dataset('x', (100000,), 'f8')[:] = 1.0\n", tmp_path / "a.h5", place=place)
    assert names(tmp_path) == ["a.h5"]
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["x"][:] == 1.0).all()


@pytest.mark.parametrize("place", PLACES)
def test_random_programs_leave_what_plain_hdf5_leaves(tmp_path, place):
    seed = int(os.environ.get("TAILRACE_SEED", random.randrange(1 << 32)))
    for each in range(seed, seed + (1 if "TAILRACE_SEED" in os.environ else 5)):
        print("TAILRACE_SEED:", each)
        plain = execute(sys.executable, PROGRAM, each, tmp_path / "plain.h5", env=without(tmp_path))
        ours = execute(sys.executable, PROGRAM, each, tmp_path / "ours.h5",
                       env=environment(tmp_path, place, close="detach"))
        assert ours == plain, f"read something else; repeat with TAILRACE_SEED={each}"
        with h5py.File(tmp_path / "plain.h5") as file:
            is_empty = not list(file)
        if not is_empty:
            assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")
        assert names(tmp_path) == ["ours.h5", "plain.h5"]


def test_a_forked_child_leaves_the_parents_files(detached, tmp_path):
    said = detached("""
import os, sys
import h5py
file = h5py.File(sys.argv[1], "w")
file.create_dataset("x", (100000,), "f8")[:] = 1.0
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
file["x"][:] = 2.0
file.close()
""", tmp_path / "a.h5")
    assert said == ""
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["x"][:] == 2.0).all()
