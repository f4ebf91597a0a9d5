"""Compressors that the HDF5 connector runs itself, besides deflate and zstd: lzf, blosc, szip. They write what HDF5's
own filters would write, in their chunks or, where a chunk does not get smaller, without them."""

import pytest
from hdf5.carried import PLACES, environment, execute, hdf5_program, python, without
from hdf5.same import assert_same

FAMILIES = ["lzf", "blosc", "szip"]

# Ways to store data, as keywords of create_dataset.
WAYS = """
import h5py, numpy, sys
try:
    import hdf5plugin
    blosc = {f"blosc_{name}_{level}_{shuffle}": hdf5plugin.Blosc(cname=name, clevel=level, shuffle=shuffle)
             for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd") for level in (1, 9) for shuffle in (0, 1, 2)}
    blosc["blosc_none"] = hdf5plugin.Blosc(clevel=0)
except ImportError:
    blosc = {}
lzf = {"lzf": {"compression": "lzf"}}
szip = {f"szip_{code}_{block}": {"compression": "szip", "compression_opts": (code, block)}
        for code in ("nn", "ec") for block in (4, 8, 32)}
if not h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
    szip = {}
ways = {"lzf": lzf, "blosc": blosc, "szip": szip}
"""

MATRIX = WAYS + """
path, family, place = sys.argv[1:4]
random = numpy.random.default_rng(7)
around = [{}, {"shuffle": True}, {"fletcher32": True}, {"shuffle": True, "fletcher32": True}]
types = ["u1", "i2", "f4", "f8", ">i4", ">f8", "f2"] + ([] if family == "szip" else [[("a", "f8"), ("b", "i4")]])
with h5py.File(path, "w") as file:
    made = 0
    for name, way in ways[family].items():
        for type in types:
            for more in around if family != "blosc" else around[made % 4:made % 4 + 1]:
                values = numpy.zeros((35, 45, 10), type)
                for field in values.dtype.names or [()]:
                    values[field] = random.integers(0, 50, values.shape)
                data = file.create_dataset(str(made), values.shape, type, chunks=(16, 23, 10), **{**way, **more})
                made += 1
                data[:] = values                                # chunks at the edge, too
                data[16:32] = values[:16]                       # whole chunks, again
                values[16:32] = values[:16]
                data[3:25:3, 7, ::2] = values[0, 0, 0]          # parts of chunks, behind whole ones
                values[3:25:3, 7, ::2] = values[0, 0, 0]
                assert (data[:] == values).all(), (name, type, more)
                data[:16] = values[16:32]
    print(made)
"""


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_written_is_what_plain_hdf5_writes(tmp_path, family, place):
    pytest.importorskip("hdf5plugin")
    plain = python(MATRIX, tmp_path / "plain.h5", family, place, env=without(tmp_path))
    assert python(MATRIX, tmp_path / "ours.h5", family, place, env=environment(tmp_path, place)) == plain
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


NOISE = WAYS + """
path, family, cache = sys.argv[1], sys.argv[2], int(sys.argv[3])
random = numpy.random.default_rng(5)
with h5py.File(path, "w", rdcc_nbytes=cache) as file:
    for name, way in ways[family].items():
        for shuffle in (False, True):
            values = numpy.frombuffer(random.bytes(8 << 14), "i8").reshape(8, -1)
            few = values % 3
            length = values.shape[1]
            data = file.create_dataset(f"{name}{shuffle}", (7, length), "i8", chunks=(1, length), shuffle=shuffle,
                                       fletcher32=not shuffle, **way)
            data[:] = values[:7]
            assert (data[:] == values[:7]).all()        # by what wrote it
            data[2:4] = few[2:4]                        # well compressed instead
            assert (data[3] == few[3]).all() and (data[2] == few[2]).all()
            data[2:4] = values[3:5]                     # noise again, and at once not
            data[3:4] = few[5:6]
            assert (data[3] == few[5]).all() and (data[2] == values[3]).all()
            data[6, :5] = 0                             # a part
            data[6:7] = few[6:7]
            assert (data[6] == few[6]).all()
            data[5:6] = few[5:6]
            data[5:6] = values[6:7]
            one = file.create_dataset(f"{name}{shuffle}one", (length,), "i8", chunks=(length,), **way)
            for row in (values[0], few[0], values[1], few[1]):
                one[:] = row
                assert (one[:] == row).all()
            long = file.create_dataset(f"{name}{shuffle}long", (40, length), "i8", chunks=(1, length), **way)
            for row in range(40):                       # so many that HDF5 gets all at last
                long[row:row + 1] = values[row % 8]
                assert row % 3 or (long[row] == values[row % 8]).all()
            long[:8] = few
            assert (long[:8] == few).all()
            one[:] = values[2]
            one[:] = few[2]
            assert (one[:] == few[2]).all()
with h5py.File(path, "r+", rdcc_nbytes=cache) as file:
    for data in file.values():
        few = numpy.arange(data.shape[-1]) % 5
        whole = numpy.s_[1:2] if data.ndim == 2 else numpy.s_[:]
        for values in (few, few + 1):
            data[whole] = values
            assert (data[whole] == values).all()
    for data in file.values():
        if data.ndim == 2:
            data[4:5] = numpy.arange(data.shape[-1]) % 7
            data[4, :3] = 99                            # HDF5 reads it for the rest
            assert (data[4, :4] == [99, 99, 99, 3]).all()
"""


@pytest.mark.parametrize("cache", [1 << 20, 0])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_does_not_get_smaller_is_read_again_at_once(tmp_path, family, cache):
    """With chunks in HDF5's cache, and without the cache."""
    pytest.importorskip("hdf5plugin")
    python(NOISE, tmp_path / "plain.h5", family, cache, env=without(tmp_path))
    python(NOISE, tmp_path / "ours.h5", family, cache, env=environment(tmp_path))
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


OPEN = WAYS + """
file = h5py.File(sys.argv[1], "w")
noise = numpy.random.default_rng(5).bytes(1 << 18)
for name, way in ways[sys.argv[2]].items():
    file.create_dataset(name, (1 << 18,), "u1", chunks=(1 << 14,), **way)[:] = numpy.frombuffer(noise, "u1")
h5py.File.close = lambda self: None
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_what_does_not_get_smaller_in_a_file_left_open(tmp_path, family):
    pytest.importorskip("hdf5plugin")
    for name, env in (("plain.h5", without(tmp_path)), ("ours.h5", environment(tmp_path))):
        python(OPEN, tmp_path / name, family, env=env)
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


THREADS = WAYS + """
import os
all = {name: way for family in ways.values() for name, way in family.items()}
must = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
must.set_filter(32000, h5py.h5z.FLAG_MANDATORY)
all |= {"must": {"dcpl": must}, "deflate": {"compression": 1}, "scaleoffset": {"scaleoffset": 2},
        "both": {"compression": "lzf", "scaleoffset": 2}}
with h5py.File(sys.argv[1], "w") as file:
    data = file.create_dataset("x", (64, 1024), "i4", chunks=(8, 1024), **all[sys.argv[2]])
    before = len(os.listdir("/proc/self/task"))
    data[:] = numpy.arange(64 * 1024).reshape(64, 1024) // 100
    print(len(os.listdir("/proc/self/task")) > before)
"""


BESIDE = ["deflate", "lzf", "szip_nn_8", "szip_ec_32",
          *(f"blosc_{name}_9_2" for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"))]
APART = ["scaleoffset", "both", "must"]


@pytest.mark.parametrize("way, beside", [*((way, True) for way in BESIDE), *((way, False) for way in APART)])
def test_they_are_filtered_beside_the_program(tmp_path, way, beside):
    """The filter threads start with their first chunk. HDF5 handles a filter that must not be left out."""
    pytest.importorskip("hdf5plugin")
    assert python(THREADS, tmp_path / "x.h5", way, env=environment(tmp_path)) == f"{beside}\n"


PYTABLES = """
import sys
import numpy, tables
random = numpy.random.default_rng(3)
noise = numpy.frombuffer(random.bytes(8 << 15), "i8").reshape(8, -1)
few = noise % 3
with tables.open_file(sys.argv[1], "w", chunk_cache_size=int(sys.argv[2])) as file:
    for number, name in enumerate(("blosc:lz4", "blosc:blosclz", "blosc:zstd", "zlib")):
        for options in ({}, {"shuffle": False, "fletcher32": True}):
            filters = tables.Filters(complevel=4, complib=name, **options)
            data = file.create_carray("/", f"c{number}{len(options)}", tables.Int64Atom(), noise.shape,
                                      filters=filters, chunkshape=(1, noise.shape[1]))
            for values in (noise, few, noise[::-1], few[::-1]):
                data[:] = values
                assert (data[7] == values[7]).all() and (data[:] == values).all()
                data[3:4] = noise[4:5]
                data[3:4] = few[4:5]
                assert (data[3] == few[4]).all()
                data[5, :7] = 0
                data[5:6] = few[4:5]
                assert (data[5] == few[4]).all()
            data[:4] = noise[:4]
"""


@pytest.mark.parametrize("cache", [1 << 20, 0])
def test_pytables_reads_at_once_what_does_not_get_smaller(tmp_path, cache):
    """HDF5 1.14.6, with the blosc of PyTables."""
    pytest.importorskip("tables")
    python(PYTABLES, tmp_path / "plain.h5", cache, env=without(tmp_path))
    python(PYTABLES, tmp_path / "ours.h5", cache, env=environment(tmp_path))
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


IN_C = r"""
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
enum { ROWS = 8, LENGTH = 1 << 14 };
static int values[ROWS][LENGTH], back[ROWS][LENGTH];
static void fill(int modulus) {
  for (int i = 0; i < ROWS * LENGTH; ++i) values[0][i] = (int)(mrand48() ^ mrand48() << 16) % modulus;
}
static void write_and_read(hid_t data, hsize_t first, hsize_t count) {
  hsize_t begin[] = {first, 0}, size[] = {count, LENGTH}, shape[] = {ROWS, LENGTH};
  hid_t space = H5Screate_simple(2, shape, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, size, NULL);
  if (H5Dwrite(data, H5T_NATIVE_INT, space, space, H5P_DEFAULT, values) < 0) exit(2);
  begin[0] = first + count - 1;
  size[0] = 1;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, size, NULL);
  if (H5Dread(data, H5T_NATIVE_INT, space, space, H5P_DEFAULT, back) < 0) exit(3);
  if (memcmp(back[begin[0]], values[begin[0]], sizeof back[0]) != 0) exit(4);
  H5Sclose(space);
}
int main(int count, char** arguments) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t shape[] = {ROWS, LENGTH}, chunk[] = {1, LENGTH};
  unsigned how[] = {0, 0, 0, 0, 5, 1, 1};
  H5Pset_cache(access, 0, 521, (size_t)atol(arguments[2]), 0.75);
  H5Pset_chunk(creation, 2, chunk);
  if (H5Pset_filter(creation, 32001, H5Z_FLAG_OPTIONAL, 7, how) < 0) return 5;
  hid_t file = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t space = H5Screate_simple(2, shape, NULL);
  hid_t data = H5Dcreate2(file, "x", H5T_STD_I32BE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  for (int round = 0; round < 40; ++round) {
    fill(round % 2 == 0 ? 0x7fffffff : 3);
    hsize_t first = (hsize_t)(lrand48() % ROWS);
    write_and_read(data, first, 1 + (hsize_t)(lrand48() % (long)(ROWS - first)));
  }
  return count != 3 || H5Dclose(data) < 0 || H5Sclose(space) < 0 || H5Fclose(file) < 0;
}
"""


@pytest.mark.parametrize("cache", [1 << 20, 0])
def test_a_c_program_reads_at_once_what_does_not_get_smaller(tmp_path, cache):
    """HDF5 1.14.5, with the blosc of hdf5plugin."""
    hdf5plugin = pytest.importorskip("hdf5plugin")
    (tmp_path / "noise.c").write_text(IN_C)
    execute(hdf5_program("h5cc"), "noise.c", "-o", "noise", cwd=tmp_path)
    plain = without(tmp_path) | {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}
    ours = environment(tmp_path)
    ours["HDF5_PLUGIN_PATH"] += ":" + hdf5plugin.PLUGIN_PATH
    execute(tmp_path / "noise", tmp_path / "plain.h5", cache, env=plain)
    execute(tmp_path / "noise", tmp_path / "ours.h5", cache, env=ours)
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")
