"""Coordinates in the files (format: {dimension_scales: true}), as netCDF and xarray find them."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: {place}}}
storage: {{path: {path}, existing: continue, iterations_per_file: {each}}}
format: {{dimension_scales: true}}
memory: {{budget: 4 MiB}}
attributes: {{author: nobody}}
parameters: {{left: 1.0, begin: 0}}
layouts:
  plane: {{type: float64, shape: [4, 6], axes: [y, x], spacing: [2, 0.5], origin: [1, left]}}
  coarse: {{type: float32, shape: [3], axes: [x], spacing: [7]}}
  part: {{type: float64, shape: [3], global: [6], offset: [begin], axes: [z]}}
  long: {{type: int8, shape: [10000], axes: [w], spacing: [0.25]}}
  list: {{type: float64, shape: [5]}}
variables:
  T: {{layout: plane, unit: K}}
  zipped: {{layout: plane, compress: {{filter: deflate, level: 1}}}}
  E: {{layout: plane, components: [x, y], unit: V/m, position: {{x: [0, 0.5]}}}}
  line: {{layout: coarse}}
  piece: {{layout: part}}
  w: {{layout: long}}
particles:
  ions: {{layout: list, records: {{position: {{components: [x], unit: m}}}}}}
"""
X = 1 + 0.5 * np.arange(6)
Y = 1 + 2.0 * np.arange(4)


def run(out, place="thread", each=1, steps=range(3), client=0):
    with tailrace.open("sim.yaml", client, text=CONFIG.format(path=out, place=place, each=each),
                       parameters={"begin": 3 * client}) as opened:
        for step in steps:
            opened.set_parameters(left=1.0 + step)
            for name in ("T", "zipped", "E/x", "E/y"):
                opened.write(name, step, np.arange(24.0).reshape(4, 6) + step)
            opened.write("line", step, np.arange(3, dtype=np.float32))
            opened.write("piece", step, np.arange(3.0) + 3 * client)
            opened.write("w", step, np.zeros(10000, np.int8))
            opened.write("ions/position/x", step, np.zeros(5))
            opened.end_iteration(step)


def file_of(out, step, each=1, client=0):
    return out / (f"sim_c{client}_{step:06}.h5" if each == 1 else f"sim_c{client}_000000.h5")


@pytest.mark.parametrize("place", ["thread", "core"])
@pytest.mark.parametrize("each", [1, "all"])
def test_xarray_shows_named_coordinates(out, place, each):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    run(out, place, each)
    for step in range(3):
        with xarray.open_dataset(file_of(out, step, each), group=f"data/{step}/meshes", engine="netcdf4") as data:
            assert data["T"].dims == data["zipped"].dims == ("y", "x")
            np.testing.assert_array_equal(data["x"], X + step)
            np.testing.assert_array_equal(data["y"], Y)
            assert data["x"].attrs["units"] == "m"
            np.testing.assert_array_equal(data["T"].sel(y=5.0), np.arange(12.0, 18.0) + step)
            assert data["line"].dims == ("line_x",)
            np.testing.assert_array_equal(data["line_x"], 7.0 * np.arange(3))
            np.testing.assert_array_equal(data["w_w"], 0.25 * np.arange(10000))
        with xarray.open_dataset(file_of(out, step, each), group=f"data/{step}/meshes/E", engine="netcdf4") as data:
            assert data["y"].dims == ("y", "x") and data["x"].dims == ("y", "E_x")


def test_h5py_finds_the_scales(out):
    run(out)
    with h5py.File(file_of(out, 1)) as opened:
        meshes = opened["data/1/meshes"]
        assert meshes["T"].dims[1][0] == meshes["x"] and meshes["x"].is_scale
        np.testing.assert_array_equal(meshes["E/x"].dims[1][0][...], X + 1 + 0.25)  # between the points
        users = {opened[reference].name for reference, _ in meshes["y"].attrs["REFERENCE_LIST"]}
        assert users == {f"/data/1/meshes/{name}" for name in ("T", "zipped", "E/x", "E/y")}
        assert "DIMENSION_LIST" not in opened["data/1/particles/ions/position/x"].attrs


def test_the_validator_finds_no_fault(out):
    pytest.importorskip("openpmd_validator")
    run(out)
    found = subprocess.run([sys.executable, "-m", "openpmd_validator.check_h5", "-i", file_of(out, 1)], text=True,
                           capture_output=True)
    assert "Result: 0 Errors" in found.stdout, found.stdout + found.stderr


def test_coordinates_are_no_variables(out):
    pytest.importorskip("xarray")
    run(out)
    assert {"T", "zipped", "E_x", "E_y", "line", "piece", "w"} == set(tailrace.read(out).data_vars)
    shown = subprocess.run([sys.executable, "-m", "tailrace.cli", "inspect", out], capture_output=True, text=True)
    assert "zipped" in shown.stdout and "line_x" not in shown.stdout


def test_joined_parts_have_no_coordinates_of_one(out):
    for client in range(2):
        run(out, steps=[0], client=client)
    joined = subprocess.run([sys.executable, "-m", "tailrace.cli", "join", out], capture_output=True, text=True)
    assert joined.returncode == 0, joined.stderr
    with h5py.File(out / "sim_000000.h5") as opened:
        np.testing.assert_array_equal(opened["data/0/meshes/piece"][...], np.arange(6.0))
        assert "z" not in opened["data/0/meshes"]
        assert "DIMENSION_LIST" not in opened["data/0/meshes/piece"].attrs


def test_a_scale_does_not_take_the_name_of_a_variable(out):
    """Not that of one without a block in the iteration either: a read found the coordinates."""
    text = (f"tailrace: 1\nname: sim\nstorage: {{path: {out}, existing: continue}}\n"
            "format: {dimension_scales: true}\nlayouts: {line: {type: float64, shape: [3], axes: [x]}}\n"
            "variables: {T: {layout: line}, x: {layout: line}}\n")
    with tailrace.open("sim.yaml", text=text) as opened:
        opened.write("T", 0, np.arange(3.0))
        opened.end_iteration(0)
    with tailrace.open("sim.yaml", text=text) as opened:
        with pytest.raises(tailrace.Error, match="x"):
            opened.read("x", 0)
