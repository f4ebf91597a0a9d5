"""Programs that ask where data lie in a file, and look at them there past HDF5."""

import pytest
from hdf5.carried import PLACES, environment, python, without
from hdf5.same import assert_same

# Maps a contiguous dataset, and one in chunks that were allocated early. Writes by HDF5 and reads by the map, and the
# reverse. Prints what it reads.
PROGRAM = """
import sys
import h5py, numpy as np
early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
COUNT = 1 << 21
with h5py.File(sys.argv[1], "w", rdcc_nbytes=1 << 20) as file:
    whole = file.create_dataset("whole", (COUNT,), "f8")
    chunks = file.create_dataset("chunks", (COUNT,), "f8", chunks=(COUNT // 2,), dcpl=early)
    print(whole.id.get_offset())
    for each in whole, chunks:
        each[:] = np.arange(COUNT)
    places = [whole.id.get_offset(), chunks.id.get_chunk_info(1).byte_offset]
    other = file["whole"]
    starts = [0, COUNT // 2]
    for each, place, start in zip((whole, chunks), places, starts):
        there = np.memmap(sys.argv[1], "f8", "r+", place, COUNT - start)
        print((there == np.arange(start, COUNT)).all())
        each[:] = 5
        print((there == 5).all())
        there[100:200] = 7
        print(each[start + 100:start + 200].sum(), each[start + 99], each[start + 200])
        each[start + 300:start + 302] = 9
    other[:] = 6
    print((np.memmap(sys.argv[1], "f8", "r", places[0], COUNT) == 6).all())
"""


@pytest.mark.parametrize("place", PLACES)
def test_data_are_where_the_program_was_told(tmp_path, place):
    plain = python(PROGRAM, tmp_path / "plain.h5", env=without(tmp_path))
    ours = python(PROGRAM, tmp_path / "ours.h5", env=environment(tmp_path, place, budget="64MiB"))
    assert ours == plain and ours.count("True") == 5
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")
