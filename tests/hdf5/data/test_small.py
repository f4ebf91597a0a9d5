"""HDF5 handles small datasets until they are written in parts; every reader must see everything that was written."""

import subprocess
import sys

import pytest
from hdf5.carried import PLACES, environment, python, without

# A virtual dataset of a few numbers, over one that the object that created it carries.
SHOWS = """
import sys
import h5py, numpy as np
with h5py.File(sys.argv[1], "w") as file:
    source = file.create_dataset("source", (1 << 20,), "f8")
    layout = h5py.VirtualLayout((16,), "f8")
    layout[:] = h5py.VirtualSource(source)[1000:1016]
    shown = file.create_virtual_dataset("shown", layout)
    for step in range(1, 50):
        source[:] = np.full(1 << 20, float(step))
        assert (shown[:] == step).all(), (step, shown[:])
        shown[:] = -step
        assert (source[1000:1016] == -step).all(), (step, source[1000:1016])
print("shown")
"""

# The same dataset through two objects, each writing parts and all of it in turn; beside others that are never written
# in parts.
TWICE = """
import sys
import h5py, numpy as np
seed, opened = int(sys.argv[2]), sys.argv[3] == "opened"
random = np.random.default_rng(seed)
with h5py.File(sys.argv[1], "w") as file:
    if opened:
        for name in "abc":
            file.create_dataset(name, (64,), "f8", fillvalue=3)
        file.flush()
    made = {name: file[name] if opened else file.create_dataset(name, (64,), "f8", fillvalue=3) for name in "abc"}
    model = {name: np.full(64, 3.0) for name in "abc"}
    for step in range(400):
        name = random.choice(list("abc"))
        data = made[name] if random.random() < 0.5 else file[name]
        first, last = sorted(random.integers(0, 65, 2))
        if name == "a" and random.random() < 0.8 or random.random() < 0.1:
            data[first:last] = model[name][first:last] = random.random(last - first)
        elif random.random() < 0.5:
            model[name] = random.random(64)
            data[...] = model[name]
        assert (data[first:last] == model[name][first:last]).all(), (step, name)
        if random.random() < 0.02:
            file.copy(name, f"copy{step}")
            assert (file[f"copy{step}"][:] == model[name]).all(), (step, name)
        if random.random() < 0.02:
            file.flush()
with h5py.File(sys.argv[1]) as file:
    for name in "abc":
        assert (file[name][:] == model[name]).all(), name
print("read")
"""

# Row after row of many small datasets.
ROWS = """
import sys
import h5py, numpy as np
with h5py.File(sys.argv[1], "w") as file:
    for number in range(20):
        data = file.create_dataset(str(number), (32, 16), "f8")
        for row in range(32):
            data[row] = number + row
with h5py.File(sys.argv[1]) as file:
    print(sum(float(file[str(number)][:].sum()) for number in range(20)))
"""


@pytest.mark.parametrize("place", PLACES)
def test_a_small_virtual_dataset_shows_what_is_on_its_way(tmp_path, place):
    assert python(SHOWS, tmp_path / "a.h5", env=environment(tmp_path, place)) == "shown\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", ("made", "opened"))
def test_a_small_dataset_may_be_written_by_two_objects(tmp_path, place, how):
    for seed in range(3):
        assert python(TWICE, tmp_path / "a.h5", seed, how, env=environment(tmp_path, place)) == "read\n"


def test_parts_of_small_datasets_are_gathered(tmp_path):
    env = environment(tmp_path)
    env["HDF5_VOL_CONNECTOR"] += " summary"
    plain = python(ROWS, tmp_path / "plain.h5", env=without(tmp_path))
    done = subprocess.run([sys.executable, "-c", ROWS, tmp_path / "a.h5"], env=env, capture_output=True, text=True,
                          timeout=600, check=True)
    assert done.stdout == plain
    expected = "tailrace: 613 writes of HDF5 data"
    assert done.stderr.startswith(expected), "all but 8 of the first dataset, and 1 of each other"
