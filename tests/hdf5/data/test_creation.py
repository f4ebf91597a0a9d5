"""Datasets have the creation properties with which they were made, as seen by the program, by copies and by plain
HDF5, and a dataset that was never written takes no space in the file."""

import subprocess
import sys

import h5py
import numpy
import pytest
from hdf5.carried import PLACES, environment, hdf5_program, python, without

# Every property, with data written in part, completely, or not at all: the creation list that HDF5 returns, at once
# and later, a dataset made with that list, and what all readers see.
PROPERTIES = """
import itertools, sys
import h5py, numpy
from h5py import h5d, h5f, h5p, h5s, h5t

ELEMENTS = 5000
VALUES = {"none": None, "number": numpy.array(4, "f4")}
FILLS = {"set": h5d.FILL_TIME_IFSET, "alloc": h5d.FILL_TIME_ALLOC, "never": h5d.FILL_TIME_NEVER}
SPACES = {"usual": None, "early": h5d.ALLOC_TIME_EARLY, "late": h5d.ALLOC_TIME_LATE, "incr": h5d.ALLOC_TIME_INCR}
LAYOUTS = ("contiguous", "chunks", "filtered", "compact")
WRITES = ("nothing", "part", "whole")

def create(file, name, made, unlimited):
    space = h5s.create_simple((ELEMENTS,), (h5s.UNLIMITED if unlimited else ELEMENTS,))
    return h5py.Dataset(h5d.create(file.id, name.encode(), h5t.IEEE_F32LE, space, made))

def properties(layout, value, fill, space):
    made = h5p.create(h5p.DATASET_CREATE)
    if layout in ("chunks", "filtered"):
        made.set_chunk((500,))
    if layout == "filtered":
        made.set_shuffle()
    if layout == "compact":
        made.set_layout(h5d.COMPACT)
    if value is not None:
        made.set_fill_value(value)
    made.set_fill_time(fill)
    if space is not None:
        made.set_alloc_time(space)
    return made

def write(data, how, number):
    if how == "part":
        data[5:15] = number
    if how == "whole":
        data[...] = number

def describe(data, made):
    found = data.id.get_create_plist()
    status = data.id.get_space_status()
    return (found.get_layout(), found.get_fill_time(), found.get_alloc_time(), found.fill_value_defined(),
            found.equal(made), status)

# What HDF5 does not fill has whatever was there.
def content(data, how, fills):
    read = data[5:15] if how == "part" and not fills else data[...] if how != "nothing" or fills else data[:0]
    return numpy.unique(read).tolist()

with h5py.File(sys.argv[1], "w") as file, h5py.File(sys.argv[2], "w") as other:
    for layout, (value, number), (fill, time), (space, when), how in itertools.product(
            LAYOUTS, VALUES.items(), FILLS.items(), SPACES.items(), WRITES):
        if layout == "compact" and space not in ("usual", "early"):
            continue
        name = "-".join((layout, value, fill, space, how))
        made = properties(layout, number, time, when)
        unlimited = layout == "chunks" and how == "part"
        data = create(file, name, made, unlimited)
        told = [describe(data, made)]
        write(data, how, 1)
        told.append(describe(data, made))
        like = create(file, name + "-like", data.id.get_create_plist(), unlimited)
        write(like, how, 2)
        told.append(describe(like, made))
        file.flush()  # HDF5 does not copy what its sieve buffer has
        file.copy(name, other, name)
        told.append(describe(other[name], made))
        fills = time != h5d.FILL_TIME_NEVER and (number is not None or time == h5d.FILL_TIME_ALLOC)
        for each in data, like, other[name]:
            told.append(content(each, how, fills))
        print(name, *told)
"""

# The same for the file: plain HDF5 copies its datasets, and writes more.
LATER = """
import sys
import h5py, numpy
with h5py.File(sys.argv[1], "r+") as file:
    for name in sorted(file):
        data = file[name]
        made = data.id.get_create_plist()
        space = data.id.get_storage_size()
        print(name, made.get_layout(), made.get_fill_time(), made.get_alloc_time(), made.fill_value_defined(),
              space, h5py.h5d.DatasetID.get_space_status(data.id))
        if name.endswith("-like") or "never" in name or "-number-" not in name:
            continue
        again = h5py.Dataset(h5py.h5d.create(file.id, (name + "-again").encode(), data.id.get_type(),
                                             data.id.get_space(), made))
        again[5:15] = 3
        print(numpy.unique(again[...]))
        if data.maxshape[0] is None:
            data.resize((data.shape[0] + 2500,))
            data[-10:] = 7
            print(numpy.unique(data[...]))
"""


@pytest.mark.parametrize("place", PLACES)
def test_creation_properties_are_those_that_were_given(tmp_path, place):
    said = {}
    with_connector = environment(tmp_path, place)
    with_connector["HDF5_VOL_CONNECTOR"] += " smallest=1024"  # so that small datasets are carried
    for name, env in ("plain", without(tmp_path)), ("ours", with_connector):
        files = [tmp_path / f"{name}{number}.h5" for number in range(2)]
        said[name] = python(PROPERTIES, *files, env=env).splitlines()
        for file in files:
            said[name] += python(LATER, file, env=without(tmp_path)).splitlines()
    assert len(said["plain"]) > 1000
    assert [pair for pair in zip(said["plain"], said["ours"], strict=True) if pair[0] != pair[1]] == []


# Never written, or in a small part.
SPARSE = {
    "contiguous": 'file.create_dataset("x", (1 << 20,), "f8")',
    "with a fill value": 'file.create_dataset("x", (1 << 20,), "f8", fillvalue=4)',
    "chunks": 'file.create_dataset("x", (1 << 20,), "f8", chunks=(1 << 16,))',
    "filtered": 'file.create_dataset("x", (1 << 20,), "f8", chunks=(1 << 16,), shuffle=True)',
    "a few chunks": 'file.create_dataset("x", (1 << 20,), "f8", chunks=(1 << 14,))[1 << 14:1 << 15] = 1',
    "a few filtered": 'file.create_dataset("x", (1 << 20,), "f8", chunks=(1 << 14,), shuffle=True)[:1 << 14] = 1',
    "deleted": 'file.create_dataset("x", (1 << 20,), "f8"); del file["x"]; file["y"] = numpy.ones(1 << 16)',
    "beside others": 'file["y"] = numpy.ones(1 << 16); file.create_dataset("x", (1 << 20,), "f8", fillvalue=4)',
    "read": 'assert file.create_dataset("x", (1 << 20,), "f8", fillvalue=4)[7] == 4',
    "no elements": 'file.create_dataset("x", (1 << 20,), "f8", fillvalue=4)[5:5] = numpy.zeros(0)',
    "very large": 'file.create_dataset("x", (1 << 45,), "f8", fillvalue=4)',
    "in freed space": 'file.create_dataset("y", data=numpy.full((64, 4096), 7.0), chunks=(64, 4096), '
                      'maxshape=(None, 4096)); file.flush(); file["y"].resize((0, 4096)); '
                      'assert not file.create_dataset("x", (1 << 16,), "f8")[:].any()',
}


@pytest.mark.parametrize("what", SPARSE)
@pytest.mark.parametrize("place", PLACES)
def test_what_nobody_writes_to_takes_no_space(tmp_path, what, place):
    code = f"""
import sys
import h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    {SPARSE[what]}
    print(file["x"].id.get_storage_size() if "x" in file else "")
"""
    plain, ours = tmp_path / "plain.h5", tmp_path / "ours.h5"
    assert python(code, ours, env=environment(tmp_path, place)) == python(code, plain, env=without(tmp_path))
    assert ours.stat().st_size <= plain.stat().st_size
    assert ours.stat().st_blocks <= plain.stat().st_blocks + 16  # it may allocate a little ahead


# Variables of all fill modes, and a dimension without a variable of its name.
NETCDF = """
import sys
import netCDF4, numpy
with netCDF4.Dataset(sys.argv[1], "w") as file:
    file.createDimension("cells", 1_000_000)
    for fill in (None, False, -7.0):
        for written in ("nothing", "part", "whole"):
            data = file.createVariable(f"{fill}-{written}".replace("-7.0", "own"), "f4", ("cells",), fill_value=fill,
                                       contiguous=True)
            if written != "nothing":
                data[:10 if written == "part" else None] = 1.0
    file.set_fill_off()
    file.createVariable("off", "f4", ("cells",), contiguous=True)[:10] = 2.0
    file.createVariable("zipped", "f4", ("cells",), compression="zlib")[:1000] = 1.0
"""


@pytest.mark.parametrize("place", PLACES)
def test_fill_modes_of_netcdf_are_in_the_file(tmp_path, place):
    pytest.importorskip("netCDF4")
    files = [tmp_path / name for name in ("plain.nc", "ours.nc")]
    python(NETCDF, files[0], env=without(tmp_path))
    python(NETCDF, files[1], env=environment(tmp_path, place))
    assert files[1].stat().st_size <= files[0].stat().st_size
    with h5py.File(files[0]) as plain, h5py.File(files[1]) as ours:
        assert set(plain) == set(ours) and len(plain) == 12
        for name in plain:
            one, other = (file[name].id.get_create_plist() for file in (plain, ours))
            assert (one.get_fill_time(), one.get_alloc_time()) == (other.get_fill_time(), other.get_alloc_time())
            if name not in ("False-part", "off"):  # the unwritten parts of these are undefined
                numpy.testing.assert_array_equal(ours[name][:], plain[name][:], name)


def test_a_repacked_file_has_the_fill_values(tmp_path):
    """In chunks: h5repack writes those that have data; the list of the file defines the others."""
    h5repack = hdf5_program("h5repack")
    code = """
import sys
import h5py
with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("a", (100_000,), "f4", fillvalue=4.0)[:10] = 1
    file.create_dataset("b", (100_000,), "f4", fillvalue=4.0)
"""
    python(code, tmp_path / "ours.h5", env=environment(tmp_path))
    repacked = tmp_path / "repacked.h5"
    subprocess.run([h5repack, "-l", "CHUNK=1000", tmp_path / "ours.h5", repacked], env=without(tmp_path), check=True)
    with h5py.File(repacked, "r+") as file:
        for name in "ab":
            like = h5py.Dataset(h5py.h5d.create(file.id, f"{name} like".encode(), file[name].id.get_type(),
                                                file[name].id.get_space(), file[name].id.get_create_plist()))
            like[5] = 2
            assert file[name].id.get_create_plist().get_fill_time() == h5py.h5d.FILL_TIME_IFSET
            assert set(numpy.unique(like[:])) == {2, 4} and file[name][-1] == 4


@pytest.mark.parametrize("written, bytes_carried", [("[...] = 1", 8 << 20), ("[:1 << 18] = 1", 10 << 20)])
def test_fill_values_are_written_beside_the_program(tmp_path, written, bytes_carried):
    """Nor by HDF5: this process itself writes little to files. Nothing is filled if everything is written."""
    code = f"""
import sys
import h5py, numpy

def own_bytes():
    return int(open("/proc/self/io").read().split("wchar: ")[1].split()[0])

with h5py.File(sys.argv[1], "w") as file:
    data = file.create_dataset("x", (1 << 20,), "f8", fillvalue=4)
    before = own_bytes()
    data{written}
    file.flush()
    print(own_bytes() - before)
    print((data[:1 << 18] == 1).all(), (data[1 << 18:] == {1 if "..." in written else 4}).all())
"""
    env = environment(tmp_path, "core")
    env["HDF5_VOL_CONNECTOR"] += " summary"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a.h5"], env=env, capture_output=True, text=True,
                          timeout=600, check=True)
    own, *right = done.stdout.split()
    assert int(own) < 100_000 and right == ["True", "True"]
    assert done.stderr.startswith(f"tailrace: 1 write of HDF5 data, {bytes_carried >> 20}.0 MiB, carried")
