"""`tailrace join` of arrays of each type, among them those of which HDF5 makes no number 0."""

import os

import h5py
import numpy as np
import pytest
import tailrace
from tailrace import cli

TYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "longdouble", "complex64", "complex128")


def part(dtype, client):
    values = np.arange(1, 7).reshape(2, 3) + 6 * client
    return (values * (1 + 2j)).astype(dtype) if np.dtype(dtype).kind == "c" else values.astype(dtype)


@pytest.fixture
def files(tmp_path):
    """The files of two clients, which have the upper and the lower half of each array, with a gap between them."""
    declared = {dtype: tailrace.Variable(dtype, (2, 3), global_shape=(5, 3), offset=("first", 0)) for dtype in TYPES}
    for client in range(2):
        with tailrace.open(name="sim", variables=declared, path=tmp_path / "out", budget="4 MiB", file_per="process",
                           parameters={"first": 3 * client}, client=client, existing="continue") as out:
            for dtype in TYPES:
                out.write(dtype, 0, part(dtype, client))
            out.end_iteration(0)
    return tmp_path / "out"


def nothing(dtype):
    """Returns a row that is in no file."""
    element = {"f": np.nan, "c": complex(np.nan, np.nan)}.get(np.dtype(dtype).kind, 0)
    return np.full((1, 3), element, dtype)


def test_each_type_is_joined(files, run):
    code, _, message = run("join", files)
    assert code == 1 and message.count("3 of 15 elements are in no file, and read as ") == len(TYPES), message
    with h5py.File(files / "sim_000000.h5") as file:
        for dtype in TYPES:
            expected = np.concatenate([part(dtype, 0), nothing(dtype), part(dtype, 1)])
            found = file[f"data/0/meshes/{dtype}"][...]
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_an_array_that_hdf5_cannot_join_is_named_and_left_out(files, run):
    """It is of texts of any length, which no program of tailrace writes."""
    for client in range(2):
        with h5py.File(files / f"sim_c{client}_000000.h5", "a") as file:
            meshes = file["data/0/meshes"]
            attributes = dict(meshes["int8"].attrs)
            del meshes["int8"]
            meshes.create_dataset("int8", (2, 3), dtype=h5py.string_dtype()).attrs.update(attributes)
    code, _, message = run("join", files)
    lines = [line for line in message.splitlines() if "cannot be joined" in line]
    assert code == 1 and len(lines) == 1 and "sim_000000.h5: int8: " in lines[0], message
    with h5py.File(files / "sim_000000.h5") as file:
        assert set(file["data/0/meshes"]) == set(TYPES) - {"int8"}


@pytest.mark.parametrize("name", ["größe", os.fsdecode(b"\xff")], ids=["umlaut", "bytes"])
def test_a_series_that_was_renamed(tmp_path, name):
    with tailrace.open({"name": "sim", "layouts": {"l": {"type": "float64", "shape": [4]}},
                        "variables": {"v": {"layout": "l"}}}, path=tmp_path) as client:
        client.write("v", 0, np.ones(4))
        client.end_iteration(0)
    (tmp_path / "sim_c0_000000.h5").rename(tmp_path / f"{name}_c0_000000.h5")
    assert cli.main(["join", str(tmp_path)]) == 0
    with h5py.File(tmp_path / f"{name}_000000.h5") as file:
        assert file.attrs["iterationFormat"] == os.fsencode(name) + b"_%06T"
