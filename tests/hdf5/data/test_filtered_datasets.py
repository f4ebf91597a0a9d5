"""Filters with the HDF5 connector: those that it runs itself, and those that it leaves to HDF5, such as
hdf5plugin's."""

import pytest
from hdf5.carried import PLACES, environment, python, without
from hdf5.same import assert_same

PROGRAM = """
import sys
import h5py, numpy
try:
    import hdf5plugin
    more = {"zstd": hdf5plugin.Zstd(clevel=3), "blosc": hdf5plugin.Blosc(cname="lz4", shuffle=2),
            "blosc2": hdf5plugin.Blosc2(cname="zstd"), "bitshuffle": hdf5plugin.Bitshuffle()}
except ImportError:
    more = {}
ways = {"none": {}, "deflate": {"compression": 4}, "shuffle": {"shuffle": True},
        "deflate_shuffle": {"compression": 1, "shuffle": True}, "fletcher32": {"fletcher32": True},
        "deflate_fletcher32": {"compression": 1, "fletcher32": True}, "lzf": {"compression": "lzf"},
        "szip": {"compression": "szip"}, "scaleoffset": {"scaleoffset": 2}, **more}
random = numpy.random.default_rng(int(sys.argv[2]))
with h5py.File(sys.argv[1], "w") as file:
    for name, way in ways.items():
        if name == "szip" and not h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
            continue
        values = random.integers(0, 50, (70, 90, 30)).astype("f4")
        data = file.create_dataset(name, values.shape, "f4", chunks=(32, 45, 30), **way)
        data[:] = values                               # chunks at the edge, too
        data[32:64] = values[32:64] + 1                # whole chunks, again
        data[3:50:3, 7, ::2] = -1.0                    # parts of chunks, behind whole ones
        assert (data[0] == values[0]).mean() > 0.9 and data[40, 8, 1] == values[40, 8, 1] + 1
        if name == "lzf":
            file.flush()
        contiguous = file.create_dataset(f"{name}_beside", data=values)
        assert (data[64:] == values[64:]).mean() > 0.9 and (contiguous[:] == values).all()
with h5py.File(sys.argv[1], "r+") as file:
    for name in ways:
        if name in file:
            file[name][10:20] = 7.0
    print(len(file))
"""


@pytest.mark.parametrize("place", PLACES)
def test_filtered_data_are_those_of_plain_hdf5(tmp_path, place):
    pytest.importorskip("hdf5plugin")
    plain = python(PROGRAM, tmp_path / "plain.h5", 3, env=without(tmp_path))
    assert python(PROGRAM, tmp_path / "ours.h5", 3, env=environment(tmp_path, place)) == plain
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


NOISE = """
import sys
import h5py, numpy
random = numpy.random.default_rng(5)
with h5py.File(sys.argv[1], "w") as file:
    for level in (0, 1, 9):
        for shuffle in (False, True):
            values = random.integers(0, 256, (16, 8192)).astype("u1")
            data = file.create_dataset(f"{level}{shuffle}", values.shape, "u1", chunks=(2, 8192), compression=level,
                                       shuffle=shuffle, fletcher32=not shuffle)
            data[:] = values
            assert (data[:] == values).all()            # by what wrote it
            data[6:8] = 3                               # well compressed instead, and noise again
            data[6:8] = values[6:8]
            assert (data[:] == values).all()
"""


def test_what_does_not_get_smaller_is_read_again_at_once(tmp_path):
    python(NOISE, tmp_path / "plain.h5", env=without(tmp_path))
    python(NOISE, tmp_path / "ours.h5", env=environment(tmp_path))
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


BROKEN = """
import sys
import h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    data = file.create_dataset("x", (64, 1024), "f8", chunks=(8, 1024), fletcher32=True, compression=1)
    data[:] = numpy.random.default_rng(1).random((64, 1024))
    where = data.id.get_chunk_info(3).byte_offset
with open(sys.argv[1], "r+b") as file:
    file.seek(where + 100)
    byte = file.read(1)
    file.seek(where + 100)
    file.write(bytes([byte[0] ^ 1]))
with h5py.File(sys.argv[1], "r+") as file:
    print((file["x"][:24] != 0).all())
    try:
        file["x"][24:32]
    except OSError as error:
        print("told", error)
"""


def test_a_wrong_checksum_is_found(tmp_path):
    said = python(BROKEN, tmp_path / "a.h5", env=environment(tmp_path))
    assert said.startswith("True\ntold") and "filter returned failure" in said
