"""Other actions of programs beside HDF5 with the connector: renaming open files, forking processes."""

import pytest
from hdf5.carried import PLACES, environment, python, without

# The program renames or removes a file, or creates another in its place, while it is open.
RENAMES = """
import os, sys
import h5py, numpy
os.chdir(sys.argv[1])
data = numpy.arange(100000.0)

file = h5py.File("a.h5", "w")
os.rename("a.h5", "renamed.h5")
file["x"] = data
file.close()

file = h5py.File("b.h5", "w")
os.link("b.h5", "removed.h5")
os.remove("b.h5")
file["x"] = data
file.close()

file = h5py.File("c.h5", "w")
file["x"] = data
file.flush()
os.rename("c.h5", "former.h5")
with h5py.File("c.h5", "w") as other:
    other["x"] = 2 * data
    file["y"] = 3 * data
file.close()

os.mkdir("below")
file = h5py.File("d.h5", "w")
os.chdir("below")
file["x"] = data
file.close()
os.chdir("..")

file = h5py.File("e.h5", "w")
file.close()
os.symlink("e.h5", "symbolic.h5")
os.link("e.h5", "hard.h5")
with h5py.File("symbolic.h5", "r+") as one, h5py.File("hard.h5", "r+") as other:
    one["x"] = data
    other["y"] = data
    print(one["y"][-1], other["x"][-1])

for name in sorted(os.listdir(".")):
    if name.endswith(".h5"):
        with h5py.File(name) as found:
            print(name, {key: float(found[key][-1]) for key in found})
print(os.listdir("below"))
"""

# The signals that the connector's threads take.
SIGNALS = """
import os, signal, sys
import h5py, numpy
os.chdir(sys.argv[1])
with h5py.File("a.h5", "w") as file:
    file.create_dataset("packed", data=numpy.zeros((64, 65536)), chunks=(1, 65536), compression=1)
    data = file.create_dataset("plain", data=numpy.zeros(1 << 20))
    for part in range(8):
        data[part << 17:(part + 1) << 17]
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/status") as status:
            said = dict(line.split(":", 1) for line in status)
        if said["Name"].strip() == "tailrace-hdf5":
            blocked = int(said["SigBlk"], 16)
            print(all(blocked >> number - 1 & 1 for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)))
"""

# Writes a file that is renamed when it is complete, as checkpoints are.
REPLACES = """
import os, sys
import h5py, numpy
os.chdir(sys.argv[1])
for step in range(6):
    with h5py.File("new.h5", "w") as file:
        file["x"] = numpy.full(100000, float(step))
    if step % 2 == 1:
        os.link("new.h5", f"kept{step}.h5")
    os.replace("new.h5", "last.h5")
for name in sorted(os.listdir(".")):
    with h5py.File(name) as found:
        print(name, (found["x"][:] == found["x"][0]).all(), found["x"][0])
"""

# While the parent has a file open to which it has written, a child ends in the way of argv[2].
FORKS = """
import multiprocessing, os, sys
import h5py, numpy
os.chdir(sys.argv[1])
data = numpy.arange(100000.0)

def write(number):
    with h5py.File(f"child{number}.h5", "w") as file:
        file["x"] = number * data
    return number

def child():
    if sys.argv[2] == "writes":
        write(1)
    elif sys.argv[2] == "ends":
        sys.exit(0)
    os._exit(0)

file = h5py.File("a.h5", "w")
file["x"] = data
file.flush()
if sys.argv[2] == "pool":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(write, range(4)))
else:
    pid = os.fork()
    if pid == 0:
        child()
    print(os.waitpid(pid, 0)[1])
file["y"] = 2 * data
file.close()
for name in sorted(os.listdir(".")):
    with h5py.File(name) as found:
        print(name, {key: float(found[key][-1]) for key in found})
"""


def same_as_plain(text, directory, place, *arguments):
    """Runs the program with and without the connector; both must print the same."""
    for name in ("plain", "ours"):
        (directory / name).mkdir()
    plain = python(text, directory / "plain", *arguments, env=without(directory))
    assert python(text, directory / "ours", *arguments, env=environment(directory, place)) == plain and plain


@pytest.mark.parametrize("place", PLACES)
def test_an_open_file_may_get_another_name(tmp_path, place):
    same_as_plain(RENAMES, tmp_path, place)


@pytest.mark.parametrize("place", PLACES)
def test_a_closed_file_may_get_another_name(tmp_path, place):
    same_as_plain(REPLACES, tmp_path, place)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", ["vanishes", "ends", "writes", "pool"])
def test_a_program_may_fork(tmp_path, place, how):
    same_as_plain(FORKS, tmp_path, place, how)


def test_signals_are_the_programs_own(tmp_path):
    env = environment(tmp_path)
    env["HDF5_VOL_CONNECTOR"] += " prefetch=1048576"
    said = python(SIGNALS, tmp_path, env=env).split()
    assert len(said) >= 2 and set(said) == {"True"}
