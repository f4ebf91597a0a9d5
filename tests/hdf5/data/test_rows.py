"""Rows that are read one after the other, in files that are open for writing: read ahead, and never older than what
was written last."""

import pytest
from hdf5.carried import PLACES, environment, python, without

BEGIN = """
import sys
import h5py, numpy as np
ROWS = 2000
VALUES = np.arange(ROWS * 64, dtype="f8").reshape(ROWS, 64)

def read(data, row, count=1, type="f8"):
    space = data.id.get_space()
    space.select_hyperslab((row, 0), (count, 64))
    found = np.empty((count, 64), type)
    data.id.read(h5py.h5s.create_simple((count, 64)), space, found)
    return found

def calls():
    return int([line.split()[1] for line in open("/proc/self/io") if line.startswith("syscr")][0])
"""

FEW_CALLS = BEGIN + """
mode, type = sys.argv[2:]
with h5py.File(sys.argv[1], "w") as file:
    file["rows"] = VALUES
    file.flush()
    data = file["rows"]
    if mode == "r+":
        file.close()
        file = h5py.File(sys.argv[1], "r+")
        data = file["rows"]
    before = calls()
    for row in range(ROWS):
        assert (read(data, row, type=type) == VALUES[row]).all(), row
    print(calls() - before)
    file.close()
"""

# Each row is read, then it, or one behind it, is written: through the same object, another one, another file object,
# or by HDF5 itself, which writes the little that there is after a flush.
WRITES = BEGIN + """
how = sys.argv[2]
model = VALUES.copy()
with h5py.File(sys.argv[1], "w") as file:
    data = file.create_dataset("rows", data=VALUES)
    others = {"same": data, "other": file["rows"], "again": h5py.File(sys.argv[1], "r+")["rows"]}
    for row in range(ROWS):
        assert (read(data, row) == model[row]).all(), row
        behind = min(row + row % 7, ROWS - 1)
        model[behind] += 1 + row
        if how == "hdf5" and row % 7 == 0:
            file.flush()
        others.get(how, data)[behind] = model[behind]
    assert (data[:] == model).all()
with h5py.File(sys.argv[1], "r") as file:
    assert (file["rows"][:] == model).all()
print("read")
"""

# A dataset is removed when some of its rows have been read ahead, and its space is given to the next one, which HDF5
# fills when it is made.
AGAIN = BEGIN + """
places = set()
with h5py.File(sys.argv[1], "w") as file:
    for turn in range(20):
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        creation.set_fill_value(np.array(float(turn)))
        space = h5py.h5s.create_simple((ROWS, 64))
        data = h5py.Dataset(h5py.h5d.create(file.id, b"rows", h5py.h5t.NATIVE_DOUBLE, space, dcpl=creation))
        places.add(data.id.get_offset())
        for row in range(3):
            assert (read(data, row) == turn).all(), (turn, row)
        if turn % 2:
            data = None
        del file["rows"]
        data = None
assert len(places) < 20, "no space was used again"
print("read")
"""


@pytest.mark.parametrize("type", ("f8", "f4"))
@pytest.mark.parametrize("mode", ("w", "r+"))
def test_rows_in_a_row_take_few_calls_of_the_system(tmp_path, mode, type):
    carried = int(python(FEW_CALLS, tmp_path / "a.h5", mode, type, env=environment(tmp_path)))
    plain = int(python(FEW_CALLS, tmp_path / "plain.h5", mode, type, env=without(tmp_path)))
    assert carried <= 2 * plain + 10 and carried < 100, (carried, plain)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", ("same", "other", "again", "hdf5"))
def test_rows_are_as_they_were_written_last(tmp_path, place, how):
    assert python(WRITES, tmp_path / "a.h5", how, env=environment(tmp_path, place)) == "read\n"


def test_rows_of_a_dataset_in_the_space_of_another(tmp_path):
    assert python(AGAIN, tmp_path / "a.h5", env=environment(tmp_path)) == "read\n"
