"""Files that HDF5 itself opens for an external link, before or after the program opens them by their names."""

import pytest
from hdf5.carried import PLACES, environment, python, without
from hdf5.same import assert_same

# Opens a file through a link first, in the way of argv[2], then by its name. Both write parts and read everything, so
# that bytes on their way may be read, or arrive too late.
PROGRAM = """
import os, sys
import h5py, numpy as np
from h5py import h5d, h5p
os.chdir(sys.argv[1])
way = sys.argv[2]
data = np.arange(1 << 19, dtype="f8")
early = h5p.create(h5p.DATASET_CREATE)
early.set_alloc_time(h5d.ALLOC_TIME_EARLY)
with h5py.File("target.h5", "w") as target:
    target["x"] = data
    target.create_dataset("early", data.shape, "f8", chunks=(1 << 16,), dcpl=early)[:] = data
    target.create_dataset("filtered", data.shape, "f8", chunks=(1 << 16,), compression=1)[:] = data
    target["small"] = data[:1000]
    target.create_group("group")
with h5py.File("links.h5", "w") as links:
    for name in ("x", "early", "filtered", "small", "group"):
        links[name] = h5py.ExternalLink("target.h5", name)

links = h5py.File("links.h5", "r+")
one = {name: links[name] for name in ("x", "early", "filtered", "small")}
if way == "reads":
    sums = [each[:].sum() for each in one.values()]
if way == "writes":
    for each in one.values():
        each[:100] = -1
if way == "creates":
    one["new"] = links["group"].create_dataset("new", data.shape, "f8")
    one["tiny"] = links["group"].create_dataset("tiny", (100,), "f8")
target = h5py.File("target.h5", "r+")
other = {name: target[name if name in target else f"group/{name}"] for name in one}
wrong = []
for turn in range(2):
    for name in one:
        half = len(one[name]) // 2
        for first, second in ((other, one), (one, other)):
            first[name][:] = turn * 10.0 + 1
            second[name][half:] = turn * 10.0 + 2
            expected = np.full(2 * half, turn * 10.0 + 1)
            expected[half:] += 1
            for reader, who in ((one, "link"), (other, "name")):
                if not np.array_equal(reader[name][:], expected):
                    wrong.append((turn, name, who, "first" if first is one else "second"))
print(wrong)
links.close()
target["x"][7] = 7
del one
target["x"][8] = 8
target.close()
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", ["reads", "writes", "creates"])
def test_it_does_not_matter_how_a_file_was_opened_first(tmp_path, place, way):
    for name, env in (("plain", without(tmp_path)), ("ours", environment(tmp_path, place))):
        (tmp_path / name).mkdir()
        assert python(PROGRAM, tmp_path / name, way, env=env) == "[]\n"
    assert_same(tmp_path / "plain/target.h5", tmp_path / "ours/target.h5")


# A new file is closed while an object of it is open that was reached through a link in another file.
OUTLIVES = """
import os, sys
import h5py, numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t
os.chdir(sys.argv[1])
access = h5p.create(h5p.FILE_ACCESS)
access.set_fclose_degree(h5f.CLOSE_WEAK)
target = h5f.create(b"target.h5", h5f.ACC_TRUNC, fapl=access)
space = h5s.create_simple((1 << 20,))
h5d.create(target, b"x", h5t.IEEE_F64LE, space).write(h5s.ALL, h5s.ALL, np.ones(1 << 20))
with h5py.File("links.h5", "w") as links:
    links["x"] = h5py.ExternalLink("target.h5", "x")
    through = links["x"]
    target.close()
    through[7] = 7.0
    links["x"][8] = 8.0
    print(through[:].sum(), open("target.h5", "rb").read(16)[8:] == b"tailrace")
    del through
with h5py.File("target.h5") as target:
    print(target["x"][:].sum())
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("close", ["wait", "detach"])
def test_an_object_reached_through_a_link_outlives_its_file(tmp_path, place, close):
    for name, env in (("plain", without(tmp_path)), ("ours", environment(tmp_path, place, close=close))):
        (tmp_path / name).mkdir()
        assert python(OUTLIVES, tmp_path / name, env=env).split() == ["1048589.0", "False", "1048589.0"]
    assert_same(tmp_path / "plain/target.h5", tmp_path / "ours/target.h5")
