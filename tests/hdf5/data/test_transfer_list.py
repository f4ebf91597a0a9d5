"""A transfer property list reports the same of carried data as with plain HDF5."""

import subprocess
import sys

import pytest
from hdf5.carried import PLACES, environment, python, without

# h5py has none of these functions.
TRANSFERS = """
import ctypes, glob, pathlib, sys
import h5py, numpy
from h5py import h5p, h5s

hdf5 = ctypes.CDLL(glob.glob(str(pathlib.Path(h5py.__file__).parent.parent / "h5py.libs/libhdf5-*"))[0])
for name in "actual_selection_io_mode", "no_selection_io_cause":
    getattr(hdf5, "H5Pget_" + name).argtypes = [ctypes.c_int64, ctypes.POINTER(ctypes.c_uint32)]
hdf5.H5Pset_selection_io.argtypes = [ctypes.c_int64, ctypes.c_int]

def said(properties):
    found = []
    for name in "actual_selection_io_mode", "no_selection_io_cause":
        value = ctypes.c_uint32(77)
        assert getattr(hdf5, "H5Pget_" + name)(properties.id, ctypes.byref(value)) >= 0
        found.append(value.value)
    return found

numbers = numpy.arange(100_000.0)
with h5py.File(sys.argv[1], "w") as file:
    for layout in "contiguous", "filled", "filtered":
        for mode in range(3):  # as HDF5 likes it, off, on
            name = f"{layout}{mode}"
            more = {"fillvalue": 4} if layout == "filled" else {}
            more |= {"chunks": (10_000,), "shuffle": True} if layout == "filtered" else {}
            data = file.create_dataset(name, (100_000,), "f8", **more).id
            properties = h5p.create(h5p.DATASET_XFER)
            assert hdf5.H5Pset_selection_io(properties.id, mode) >= 0
            print(name, said(properties))
            for _ in range(3):
                data.write(h5s.ALL, h5s.ALL, numbers, dxpl=properties)
                print("written", said(properties))
            if layout != "filtered":
                found = numpy.empty_like(numbers)
                data.read(h5s.ALL, h5s.ALL, found, dxpl=properties)
                assert (found == numbers).all()
                print("read", said(properties))
            nothing = data.get_space()
            nothing.select_none()
            data.write(nothing, nothing, numbers, dxpl=properties)
            print("nothing written", said(properties))
            usual = h5p.create(h5p.DATASET_XFER)
            data.write(h5s.ALL, h5s.ALL, numbers, dxpl=usual)
            print("by another list", said(usual), said(properties))
"""


@pytest.mark.parametrize("place", PLACES)
def test_it_says_what_plain_hdf5_says(tmp_path, place):
    plain = python(TRANSFERS, tmp_path / "plain.h5", env=without(tmp_path)).splitlines()
    env = environment(tmp_path, place)
    env["HDF5_VOL_CONNECTOR"] += " summary smallest=4096"
    done = subprocess.run([sys.executable, "-c", TRANSFERS, tmp_path / "ours.h5"], env=env, capture_output=True,
                          text=True, timeout=600, check=True)
    assert done.stdout.splitlines() == plain
    assert len(set(plain)) > 15 and "[1, " in "".join(plain)
    # Including those with a list that was used before. (Chunks only if nothing special is requested.)
    assert "tailrace: 24 writes of HDF5 data" in done.stderr
    assert "tailrace: 60 chunks of HDF5 data" in done.stderr
