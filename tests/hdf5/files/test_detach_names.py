"""`close=detach`: calls past HDF5 that rely on a file being whole wait for it, and processes that end without their
exit handlers do not detach."""

import json
import os
import signal
import subprocess
import sys

import h5py
import pytest
from hdf5.carried import PLACES, environment, execute, python
from hdf5.detached import lacks_seal, stopped_server

# Closes a file while the server is stopped, acts, and reports if the file was whole then. It looks at the file by a
# descriptor of earlier, which waits for nothing.
ACTOR = """
import os, pathlib, shutil, subprocess, sys
import h5py, numpy
os.chdir(sys.argv[1])

LOOK = "import os, sys; print(os.pread(int(sys.argv[1]), 16, 0)[8:] != b'tailrace')"

def another_place():
    os.mkdir("before")
    os.rename("now.h5", "before/now.h5")
    os.rename("before", "after")

actions = {
    "rename": lambda: os.rename("now.h5", "then.h5"),
    "replace": lambda: os.replace("now.h5", "last.h5"),
    "move": lambda: shutil.move("now.h5", "moved.h5"),
    "rename a folder": another_place,
    "link": lambda: os.link("now.h5", "linked.h5"),
    "symlink": lambda: os.symlink("now.h5", "latest.h5"),
    "remove another": lambda: os.remove("old.h5"),
    "unlink another": lambda: pathlib.Path("older.h5").unlink(),
    "remove a folder": lambda: shutil.rmtree("folder"),
    "copy": lambda: shutil.copy("now.h5", "copy.h5"),
    "read": lambda: pathlib.Path("now.h5").read_bytes(),
    "numpy": lambda: numpy.fromfile("now.h5", "u1"),
    "subprocess": lambda: subprocess.run(["true"], check=True),
    "subprocess in a folder": lambda: subprocess.run(["true"], check=True, preexec_fn=lambda: None),
    "system": lambda: os.system("true"),
    "popen": lambda: os.popen("true").close(),
    "spawn": lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0),
    "exec": lambda: os.execv(sys.executable, [sys.executable, "-c", LOOK, str(whole)]),
}
os.mkdir("folder")
for name in ("old.h5", "older.h5", "folder/file"):
    open(name, "w").close()
for name, action in actions.items():
    with h5py.File("now.h5", "w") as file:
        data = file.create_dataset("x", (100000,), "f8")
        data[:] = 1.0
        file.flush()
        print(name, flush=True)
        sys.stdin.readline()
        data[:] = 2.0
        whole = os.open("now.h5", os.O_RDONLY)
        os.set_inheritable(whole, True)
    print("acts", os.pread(whole, 16, 0)[8:] == b"tailrace", flush=True)
    action()
    print(os.pread(whole, 16, 0)[8:] != b"tailrace", flush=True)
"""


def test_what_relies_on_whole_files_waits_for_them(tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "files").mkdir()
    program = subprocess.Popen([sys.executable, "-c", ACTOR, tmp_path / "files"], text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=environment(tmp_path, "core", close="detach"))
    acted = {}
    try:
        while name := program.stdout.readline().strip():
            server = stopped_server()
            program.stdin.write("close it\n")
            program.stdin.flush()
            assert program.stdout.readline() == "acts True\n"
            os.kill(server, signal.SIGCONT)
            acted[name] = program.stdout.readline().strip()
    finally:
        program.kill()
        program.communicate()
    assert len(acted) == 18 and set(acted.values()) == {"True"}, acted


# A file that does not fit. The program goes on as it would with plain HDF5, whose close would have failed.
LOSER = """
import json, os, sys
import h5py, numpy
os.chdir(sys.argv[1])
said = []
def attempt(what):
    try:
        what()
        said.append(0)
    except OSError as error:
        said.append(error.errno)
with h5py.File("new.h5", "w") as file:
    file["x"] = numpy.ones(1 << 18)
attempt(lambda: os.remove("oldest.h5") if "remove" in sys.argv else os.replace("new.h5", "last.h5"))
attempt(lambda: os.replace("new.h5", "last.h5"))
attempt(lambda: os.link("new.h5", "again.h5"))
attempt(lambda: os.remove("oldest.h5"))
attempt(lambda: os.remove("new.h5"))
with h5py.File("new.h5", "w") as file:
    file["x"] = [1.0]
attempt(lambda: os.replace("new.h5", "last.h5"))
print(json.dumps(said))
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("first", ["remove", "replace"])
def test_a_file_that_is_not_whole_replaces_no_other(tmp_path, small_disk, place, first):
    for name in ("last.h5", "oldest.h5"):
        (small_disk / name).write_bytes(b"good")
    (small_disk / "filler").write_bytes(bytes(600 << 10))
    done = subprocess.run([sys.executable, "-c", LOSER, small_disk, first], text=True, capture_output=True,
                          env=environment(tmp_path, place, close="detach"), timeout=600)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [5, 5, 5, 0, 0, 0] and "is incomplete" in done.stderr
    with h5py.File(small_disk / "last.h5") as file:
        assert file["x"][0] == 1.0


# Children of multiprocessing end without exit handlers.
CHILDREN = """
import multiprocessing, os, sys
import h5py, numpy

def work(name):
    with h5py.File(name, "w") as file:
        file["x"] = numpy.full(1 << 20, 7.0)

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[2])
    children = [context.Process(target=work, args=(f"{sys.argv[1]}/{number}.h5",)) for number in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    print([child.exitcode for child in children])
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", ["fork", "forkserver", "spawn"])
def test_children_that_vanish_leave_whole_files(tmp_path, place, how):
    program = tmp_path / "children.py"
    program.write_text(CHILDREN)
    said = execute(sys.executable, program, tmp_path, how, env=environment(tmp_path, place, close="detach"))
    assert said == "[0, 0, 0]\n"
    for number in range(3):
        with h5py.File(tmp_path / f"{number}.h5") as file:
            assert (file["x"][:] == 7.0).all()


def test_a_fork_after_the_first_file(tmp_path):
    python("""
import os, sys
import h5py, numpy
for number in range(2):
    with h5py.File(f"{sys.argv[1]}/{number}.h5", "w") as file:
        file["x"] = numpy.ones(1 << 20)
    child = os.fork() if number == 0 else 0
    if number == 0 and child == 0:
        with h5py.File(f"{sys.argv[1]}/child.h5", "w") as file:
            file["x"] = numpy.ones(1 << 20)
        os._exit(0)
    if child:
        os.waitpid(child, 0)
""", tmp_path, env=environment(tmp_path, close="detach"))
    assert not any(lacks_seal(tmp_path / f"{name}.h5") for name in ("0", "1", "child"))


def test_who_does_not_watch_the_programs_calls_waits(tmp_path):
    env = environment(tmp_path, close="detach")
    del env["LD_PRELOAD"]
    done = subprocess.run([sys.executable, "-c", """
import os, sys
import h5py, numpy
for number in range(2):
    with h5py.File(f"{sys.argv[1]}/{number}.h5", "w") as file:
        file["x"] = numpy.ones(1 << 20)
    print(os.pread(os.open(f"{sys.argv[1]}/{number}.h5", os.O_RDONLY), 16, 0)[8:] != b"tailrace")
""", tmp_path], env=env, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.split() == ["True", "True"]
    assert done.stderr.count("libtailrace_hdf5_names.so") == 1 == done.stderr.count("\n")


# Writes a new file after each step, and gives it the name of the last one.
CHECKPOINTS = """
import os, sys
import h5py, numpy
os.chdir(sys.argv[1])
for step in range(1, 1000):
    with h5py.File("new.h5", "w") as file:
        for name in "uvw":
            file[name] = numpy.full((256, 1024), float(step))
    os.replace("new.h5", "last.h5")
    print(step, flush=True)
"""


@pytest.mark.parametrize("place", PLACES)
def test_a_checkpoint_survives_a_kill(tmp_path, place):
    for attempt in range(3):
        directory = tmp_path / str(attempt)
        directory.mkdir()
        program = subprocess.Popen([sys.executable, "-c", CHECKPOINTS, directory], text=True, stdout=subprocess.PIPE,
                                   env=environment(tmp_path, place, close="detach"))
        for _ in range(2 + attempt):
            told = int(program.stdout.readline())
        program.kill()
        program.communicate()
        with h5py.File(directory / "last.h5") as file:
            steps = {float(value) for name in "uvw" for value in (file[name][0, 0], file[name][-1, -1])}
        assert len(steps) == 1 and steps.pop() >= told
