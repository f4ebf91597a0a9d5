"""Chunks that are larger than the memory for data on their way, or than 32 bits count: HDF5 writes them."""

import subprocess
import sys

import h5py
import pytest
from hdf5.carried import PLACES, environment, python, without
from hdf5.same import assert_same

PROGRAM = """
import sys
import h5py, numpy
values = numpy.arange(1 << 20, dtype="f8").reshape(2, -1)
early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
with h5py.File(sys.argv[1], "w") as file:
    for name, more in ("filtered", {"compression": 1, "shuffle": True}), ("early", {"dcpl": early}):
        data = file.create_dataset(name, data=values, chunks=(1, values.shape[1]), **more)
        data[1] = data[0]
        assert (data[...] == values[0]).all()
"""


@pytest.mark.parametrize("place", PLACES)
def test_a_chunk_larger_than_the_budget_is_left_to_hdf5(tmp_path, place):
    python(PROGRAM, tmp_path / "plain.h5", env=without(tmp_path))
    for budget, carried in ("1MiB", False), ("64MiB", True):
        env = environment(tmp_path, place, budget=budget)
        env["HDF5_VOL_CONNECTOR"] += " summary"
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path / "ours.h5")], env=env, text=True,
                              capture_output=True, timeout=600, check=True)
        assert ("chunks of HDF5 data" in done.stderr) == carried
        assert ("writes of HDF5 data" in done.stderr) == carried
        assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


# The parts of a chunk of more than 4 GiB: at its ends, and on both sides of 4 GiB.
PARTS = """
import sys
import h5py, numpy
size = (1 << 32) + 4096
made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
made.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
made.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
with h5py.File(sys.argv[1], "w", libver="latest") as file:
    data = file.create_dataset("x", (size,), "u1", chunks=(size,), dcpl=made)
    for seed, at in enumerate((0, (1 << 32) - 70000, size - 5000)):
        part = numpy.arange(min(140000, size - at)) * 7 + seed
        data[at:at + len(part)] = part.astype("u1")
        assert (data[at:at + len(part)] == part.astype("u1")).all()
    print(hash(data[:1 << 18].tobytes() + data[-(1 << 18):].tobytes()), data.id.get_storage_size())
"""
# A whole one that compresses well. Its numbers are memory that the system has not made yet.
WHOLE = """
import sys
import h5py, numpy
size = (1 << 32) + 4096
with h5py.File(sys.argv[1], "w", libver="latest") as file:
    data = file.create_dataset("x", (size,), "u1", chunks=(size,), compression=1)
    values = numpy.zeros(size, "u1")
    values[-4000:] = values[:4000] = 7
    data[...] = values
with h5py.File(sys.argv[1]) as file:
    print(int(file["x"][3999]), int(file["x"][4000]), int(file["x"][-1]), file["x"].id.get_num_chunks())
"""


@pytest.mark.skipif(h5py.version.hdf5_version_tuple < (2,), reason="h5py has an HDF5 before 2.0")
@pytest.mark.parametrize("text", [PARTS, pytest.param(WHOLE, marks=pytest.mark.slow)], ids=["parts", "whole"])
def test_a_chunk_of_more_than_4_gib_is_as_plain_hdf5_writes_it(tmp_path, text):
    said = []
    for env in without(tmp_path), environment(tmp_path, budget="8GiB"):
        said.append(python(text, tmp_path / "x.h5", env={**env, "PYTHONHASHSEED": "1"}))
        (tmp_path / "x.h5").unlink()
    assert said[0] == said[1]
