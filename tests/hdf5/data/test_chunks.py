"""Chunks without filters, allocated early, bypass HDF5 as contiguous data do."""

import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
from hdf5.carried import PLACES, environment, without

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
                          text=True, timeout=100, check=True, env=env)


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
