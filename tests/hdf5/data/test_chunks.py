"""Chunks without filters, allocated early, bypass HDF5 as contiguous data do."""

import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
from hdf5.carried import PLACES, environment, python, without
from hdf5.same import assert_same

# Writes whole chunks, parts, edges, and growing datasets, and prints whether it reads back what it wrote.
PROGRAM = """
import sys
import h5py, numpy as np
path, userblock, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) or None
early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
with h5py.File(path, "w", userblock_size=userblock) as file:
    data = file.create_dataset("x", (250, 130), "f8", chunks=(100, 64), maxshape=(None, most), fillvalue=7,
                               dcpl=early)
    model = np.full((250, 130), 7.0)
    def write(where, values):
        data[where] = values
        model[where] = values
    write(np.s_[:], np.arange(model.size).reshape(model.shape))
    write(np.s_[37:142, 5:99], -1)
    write(np.s_[3, :], np.arange(130))
    write(np.s_[::3, 1::2], 4)
    other = file["x"]
    print((data[:] == model).all(), (other[20:70, 30:] == model[20:70, 30:]).all())
    other[0:100, 0:64] = 12
    model[0:100, 0:64] = 12
    data.resize((90, 100))
    model = model[:90, :100]
    write(np.s_[:, 80:100], np.float32(3))
    data.resize((120, 130))
    model = np.block([[model, np.full((90, 30), 7.0)], [np.full((30, 130), 7.0)]])
    write(np.s_[50:, :], 8)
    print((data[:] == model).all())
    file.flush()
    print(np.array_equal(data[:], model))
    write(np.s_[0:100, 0:64], 5)
    file["copy"] = data[...]
    data.id.close()
    again = file["x"]
    print((again[:] == model).all())
    again[1, 1] = model[1, 1] = 99
    expected = model
with h5py.File(path) as file:
    print((file["x"][:] == expected).all())
"""


def execute(path, userblock, most, env):
    return subprocess.run([sys.executable, "-c", PROGRAM, *map(str, (path, userblock, most))], capture_output=True,
                          text=True, timeout=600, check=True, env=env)


@pytest.mark.parametrize("userblock, most", [(0, 130), (0, 0), (4096, 130)])
@pytest.mark.parametrize("place", PLACES)
def test_they_are_carried_and_nobody_notices(tmp_path, place, userblock, most):
    """Only where HDF5 reports their places reliably."""
    plain = execute(tmp_path / "plain.h5", userblock, most, without(tmp_path))
    env = environment(tmp_path, place)
    env["HDF5_VOL_CONNECTOR"] += " summary"
    ours = execute(tmp_path / "ours.h5", userblock, most, env)
    assert ours.stdout.split() == ["True"] * 6 == plain.stdout.split()
    writes = re.search(r"tailrace: (\d+) writes of HDF5 data", ours.stderr)
    if userblock == 0 and most > 0:
        assert writes is not None and int(writes[1]) >= 15, ours.stderr
    else:
        assert writes is None or int(writes[1]) <= 1
    with h5py.File(tmp_path / "plain.h5") as one, h5py.File(tmp_path / "ours.h5") as other:
        assert one["x"].id.get_storage_size() == other["x"].id.get_storage_size()
        for name in one:
            assert np.array_equal(one[name][...], other[name][...])


# Small parts of chunks, before and after other programs may see each write.
SWMR = """
import sys
import h5py, numpy as np
early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
with h5py.File(sys.argv[1], "w", libver="latest") as file:
    made = {"early": {"dcpl": early}, "filtered": {"compression": 1}, "other": {}}
    data = [file.create_dataset(name, (256, 512), "f8", chunks=(64, 512), maxshape=(None, 512), **more)
            for name, more in made.items()]
    for each in data:
        each[:] = 1
        each[3] = 2
    file.swmr_mode = True
    for each in data:
        each[5] = 3
        each[100:164] = 4
        each[64:128] = 5
        each.flush()
    with h5py.File(sys.argv[1], "r", swmr=True) as reader:
        print([float(reader[name][:].sum()) for name in made])
    for each in data:
        each[7, :100] = 6
    print([float(each[:].sum()) for each in data])
"""


@pytest.mark.parametrize("place", PLACES)
def test_small_parts_arrive_after_the_start_of_swmr(tmp_path, place):
    plain = python(SWMR, tmp_path / "plain.h5", env=without(tmp_path))
    assert python(SWMR, tmp_path / "ours.h5", env=environment(tmp_path, place)) == plain != ""
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


# A child writes small parts to a file that its parent has open, flushes, and vanishes.
CHILD = """
import os, sys
import h5py
early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
with h5py.File(sys.argv[1], "w") as file:
    made = {"early": {"dcpl": early}, "whole": {"chunks": None}}
    data = [file.create_dataset(name, (256, 512), "f8", **{"chunks": (64, 512), **more})
            for name, more in made.items()]
    for each in data:
        each[:] = 1
        each[3] = 2
    file.flush()
    child = os.fork()
    if child == 0:
        for each in data:
            each[5] = 3
            each[7, :100] = 4
        file.flush()
        os._exit(0)
    print(os.waitpid(child, 0)[1])
with h5py.File(sys.argv[1]) as file:
    print([float(file[name][:].sum()) for name in made])
"""


@pytest.mark.parametrize("place", PLACES)
def test_small_parts_that_a_forked_child_writes_arrive(tmp_path, place):
    plain = python(CHILD, tmp_path / "plain.h5", env=without(tmp_path))
    assert python(CHILD, tmp_path / "ours.h5", env=environment(tmp_path, place)) == plain != ""


# Asks for the cache of datasets whose chunks may bypass HDF5, and of others, in two files.
CACHES = """
import sys
import h5py
from h5py import h5d, h5f, h5p, h5s, h5t
early = h5p.create(h5p.DATASET_CREATE)
early.set_alloc_time(h5d.ALLOC_TIME_EARLY)
early.set_chunk((1 << 15,))
late = h5p.create(h5p.DATASET_CREATE)
late.set_chunk((1 << 15,))
own = h5p.create(h5p.DATASET_ACCESS)
own.set_chunk_cache(1009, 1 << 20, 0.5)
none = h5p.create(h5p.DATASET_ACCESS)
none.set_chunk_cache(1009, 0, 0.5)
for number, more in enumerate(({}, {"rdcc_nslots": 97, "rdcc_nbytes": 1 << 16, "rdcc_w0": 0.25})):
    with h5py.File(f"{sys.argv[1]}/{number}.h5", "w", **more) as file:
        for name, dcpl, dapl in ((b"a", early, None), (b"b", late, None), (b"c", early, own), (b"d", late, own),
                                 (b"e", early, none)):
            made = h5d.create(file.id, name, h5t.IEEE_F64LE, h5s.create_simple((1 << 17,)), dcpl=dcpl, dapl=dapl)
            again = h5d.open(file.id, name)
            print([one.get_access_plist().get_chunk_cache() for one in (made, again)])
            del made, again
            print(h5d.open(file.id, name, own).get_access_plist().get_chunk_cache())
"""


def test_a_program_sees_its_own_chunk_cache(tmp_path):
    (tmp_path / "plain").mkdir()
    plain = python(CACHES, tmp_path / "plain", env=without(tmp_path))
    assert python(CACHES, tmp_path, env=environment(tmp_path)) == plain and "97" in plain
