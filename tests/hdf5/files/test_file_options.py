"""Ways to create a file, with the HDF5 connector: whether it is carried or left to HDF5, it has the same contents."""

import subprocess
import sys

import pytest
from hdf5.carried import PLACES, environment, python, without
from hdf5.same import assert_same

PROGRAM = """
import io, os, sys
import h5py, numpy
os.chdir(sys.argv[1])
data = numpy.arange(200000.0).reshape(200, 1000)

def write(file):
    file["x"] = data
    file["x"][3] = 7
    file.create_dataset("chunks", data=data, chunks=(20, 1000), compression=1, shuffle=True)
    file.create_dataset("filled", data.shape, "f4", fillvalue=3.0)[5:10] = 1
    file.create_dataset("converted", data.shape, ">f4")[::2, 5:9] = data[::2, 5:9]
    table = file.create_dataset("compound", (5000,), [("a", "f8"), ("b", "i4")])
    table[:] = numpy.ones(5000, table.dtype)
    table["a"] = numpy.arange(5000)
    file.create_dataset("arrays", (3000,), numpy.dtype(("f8", (3,))))[:] = numpy.ones((3000, 3))
    for name, values in (("complex", data.astype("c16")), ("opaque", numpy.zeros(5000, "V16")),
                         ("text", numpy.full(5000, b"abcdefgh")), ("flags", data > 5)):
        file[name] = values
    file.flush()
    file["x"][4] = 8
    assert (file["x"][3:5] == [[7], [8]]).all() and (file["chunks"][:] == data).all()

for name, options in {
    "user_block": {"userblock_size": 4096}, "latest": {"libver": "latest"}, "v110": {"libver": ("earliest", "v110")},
    "pages": {"fs_strategy": "page", "fs_persist": True, "fs_page_size": 4096},
    "no_free_space": {"fs_strategy": "none"},
    "page_buffer": {"fs_strategy": "page", "page_buf_size": 1 << 20}, "order": {"track_order": True},
    "aligned": {"alignment_threshold": 1000, "alignment_interval": 65536}, "metadata": {"meta_block_size": 100000},
    "no_locks": {"locking": False}, "no_chunk_cache": {"rdcc_nbytes": 0}, "core": {"driver": "core"},
    "stdio": {"driver": "stdio"},
}.items():
    with h5py.File(name + ".h5", "w", **options) as file:
        write(file)
with io.BytesIO() as memory:
    with h5py.File(memory, "w") as file:
        write(file)
    with open("memory.h5", "wb") as file:
        file.write(memory.getvalue())
with h5py.File("swmr.h5", "w", libver="latest") as file:
    write(file)
    file.swmr_mode = True
    file["chunks"][:20] = 5
    file["x"][7] = 2
"""


@pytest.mark.parametrize("place", PLACES)
def test_files_made_in_other_ways_hold_the_same(tmp_path, place):
    for name, env in (("plain", without(tmp_path)), ("ours", environment(tmp_path, place))):
        (tmp_path / name).mkdir()
        python(PROGRAM, tmp_path / name, env=env)
    names = sorted(file.name for file in (tmp_path / "plain").iterdir())
    assert names == sorted(file.name for file in (tmp_path / "ours").iterdir()) and len(names) == 15
    for name in names:
        assert_same(tmp_path / "plain" / name, tmp_path / "ours" / name)


# Creates a file with an access list that another file returned.
LIST = """
import sys
import h5py, numpy
names = [f"{sys.argv[1]}/{name}.h5".encode() for name in "ab"]
access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
access.set_sieve_buf_size(12345)
access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
with h5py.File(h5py.h5f.create(names[0], fapl=access)) as file:
    file["x"] = numpy.zeros(100000)
    found = file.id.get_access_plist()
print(found.get_sieve_buf_size())
with h5py.File(h5py.h5f.create(names[1], fapl=found)) as file:
    file["x"] = numpy.ones(100000)
with h5py.File(names[1].decode()) as file:
    print(file["x"][:].sum(), file.id.get_access_plist().get_sieve_buf_size())
"""


@pytest.mark.parametrize("place", PLACES)
def test_a_list_asked_of_a_file_is_the_programs(tmp_path, place):
    (tmp_path / "plain").mkdir()
    plain = python(LIST, tmp_path / "plain", env=without(tmp_path))
    env = environment(tmp_path, place)
    env["HDF5_VOL_CONNECTOR"] += " summary"
    done = subprocess.run([sys.executable, "-c", LIST, str(tmp_path)], env=env, capture_output=True, text=True,
                          timeout=600, check=True)
    assert done.stdout == plain
    assert "tailrace: 2 writes of HDF5 data" in done.stderr


# A dataset without a place, in a file that plain HDF5 has created.
MAKES = """
import sys
import h5py
with h5py.File(sys.argv[1], "w", userblock_size=512) as file:
    file.create_dataset("x", (1 << 17,), "f8")
    file["other"] = 1.0
"""
CONTINUES = """
import sys
import h5py
with h5py.File(sys.argv[1], "r+") as file:
    for part in range(4):
        file["x"][part << 10:(part + 1) << 10] = part + 1.0
    assert file["x"][4095] == 4 and file["x"][4096] == 0
"""


@pytest.mark.parametrize("place", PLACES)
def test_what_has_no_place_behind_a_user_block_has_none(tmp_path, place):
    for name, env in ("plain.h5", without(tmp_path)), ("ours.h5", environment(tmp_path, place)):
        python(MAKES, tmp_path / name, env=without(tmp_path))
        python(CONTINUES, tmp_path / name, env=env)
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")


# What the library chooses for files and datasets where the program leaves it the choice, and for each bound.
FORMATS = """
import sys
import h5py, numpy
from h5py import h5d, h5f, h5o, h5p
early = h5p.create(h5p.DATASET_CREATE)
early.set_alloc_time(h5d.ALLOC_TIME_EARLY)
def describe(name, file):
    values = numpy.arange(100000.0)
    file["x"] = values
    for kind, more in {"chunks": {}, "growing": {"maxshape": (None,)}, "shuffled": {"shuffle": True},
                       "early": {"dcpl": early}}.items():
        file.create_dataset(kind, data=values, chunks=(10000,), **more).attrs["unit"] = "K"
    file.create_group("group").attrs["name"] = "g"
    file.flush()
    access = file.id.get_access_plist()
    print(name, file.id.get_create_plist().get_version(), access.get_libver_bounds(), access.get_cache(),
          access.get_sieve_buf_size(), access.get_alignment(), access.get_meta_block_size())
    for each in file:
        header = h5o.get_info(file[each].id).hdr
        print(each, header.version, header.flags, header.nmesgs)
        if each != "group":
            print(file[each].id.get_access_plist().get_chunk_cache(), file[each].id.get_storage_size())
with h5py.File(h5f.create(f"{sys.argv[1]}-default.h5".encode())) as file:
    describe("default", file)
for bound in "earliest", "v108", "v110", "v112", "v114", "v200", "latest":
    try:
        with h5py.File(f"{sys.argv[1]}-{bound}.h5", "w", libver=(bound, "latest")) as file:
            describe(bound, file)
    except ValueError:
        print(bound, "is not known")
"""


@pytest.mark.parametrize("place", PLACES)
def test_the_format_is_the_librarys_choice(tmp_path, place):
    plain = python(FORMATS, tmp_path / "plain", env=without(tmp_path))
    assert plain.count("chunks") >= 5
    assert python(FORMATS, tmp_path / "ours", env=environment(tmp_path, place)) == plain
