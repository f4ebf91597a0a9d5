"""HDF5's own tools with the connector: they print the same, and h5repack and h5copy leave the same file."""

import os

import h5py
import numpy as np
import pytest
from hdf5.carried import PLACES, environment, execute, hdf5_program, without
from hdf5.same import assert_same


@pytest.fixture
def tool(tmp_path):
    """Runs a tool, with the connector if a place is given."""

    def run(name, *arguments, place=None):
        env = environment(tmp_path, place) if place else without(tmp_path)
        return execute(hdf5_program(name), *arguments, cwd=tmp_path, env=env)

    return run


@pytest.fixture
def file(tmp_path):
    """Makes a file with a dataset of each kind."""
    random = np.random.default_rng(9)
    with h5py.File(tmp_path / "a.h5", "w") as out:
        values = random.integers(0, 100, (50, 60, 30)).astype("f8")
        out.create_dataset("contiguous", data=values).attrs["unit"] = "K"
        out.create_dataset("group/deflate", data=values, chunks=(20, 60, 30), compression=1, shuffle=True)
        out.create_dataset("group/chunks", data=values, chunks=(20, 60, 30), fletcher32=True, maxshape=(None, 60, 30))
        out.create_dataset("small", data=np.arange(10))
        out.create_dataset("names", data=["one", "two"])
        out["link"] = h5py.SoftLink("/group/chunks")
    return "a.h5"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name, arguments", [
    ("h5dump", ["-p"]), ("h5dump", ["-d", "/contiguous", "-s", "3,4,5", "-c", "2,2,20"]), ("h5ls", ["-rv"]),
    ("h5stat", []), ("h5diff", ["-v", "b.h5"])])
def test_a_tool_prints_the_same(tool, file, tmp_path, name, arguments, place):
    if name == "h5diff":
        os.link(tmp_path / file, tmp_path / "b.h5")
    plain = tool(name, *arguments, file)
    assert tool(name, *arguments, file, place=place) == plain and plain


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("arguments", [[], ["-f", "SHUF", "-f", "GZIP=2", "-l", "CHUNK=10x30x30"], ["-l", "CONTI"],
                                       ["-f", "FLET", "-l", "contiguous:CHUNK=25x60x30"]])
def test_h5repack_leaves_the_same(tool, file, tmp_path, arguments, place):
    tool("h5repack", *arguments, file, "plain.h5")
    tool("h5repack", *arguments, file, "ours.h5", place=place)
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")
    assert tool("h5diff", file, "ours.h5", place=place) == ""


@pytest.mark.parametrize("place", PLACES)
def test_h5copy_leaves_the_same(tool, file, tmp_path, place):
    for out, way in (("plain.h5", None), ("ours.h5", place)):
        for name in ("/group", "/contiguous"):
            tool("h5copy", "-i", file, "-o", out, "-s", name, "-d", name, place=way)
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")
