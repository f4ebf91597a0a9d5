"""`tailrace.read`: a series as an xarray Dataset, and the files by which ParaView and VisIt open it."""

import os
import subprocess
import sys
import xml.etree.ElementTree as xml

import h5py
import numpy as np
import pytest
import tailrace
from tailrace import series as series_of
from tailrace import xdmf

xarray = pytest.importorskip("xarray")

CONFIG = """\
tailrace: 1
name: waves
storage: {{path: {path}, existing: continue}}
memory: {{budget: 4 MiB}}
time: {{dt: 0.5, unit: ms}}
attributes: {{author: nobody}}
parameters: {{n: 5, left: 0.0}}
layouts:
  plane: {{type: float64, shape: [4, 6], axes: [y, x], spacing: [2, 0.5], origin: [1, -1]}}
  other: {{type: float32, shape: [3], axes: [x], spacing: [7]}}
  moving: {{type: int32, shape: [4], axes: [w], origin: [left]}}
  list: {{type: float64, shape: [n]}}
  cube: {{type: float32, shape: [2, 3, 4]}}
variables:
  T: {{layout: plane, unit: K, description: temperature}}
  E: {{layout: plane, components: [x, y], unit: V/m, position: {{x: [0, 0.5]}}}}
  line: {{layout: other}}
  window: {{layout: moving}}
  cube: {{layout: cube}}
particles:
  ions:
    layout: list
    records: {{position: {{components: [x, y], unit: m}}, weighting: {{}}, charge: {{value: 2.0}}}}
"""
COUNTS = (5, 3, 8)


def plane(step):
    return np.arange(24.0).reshape(4, 6) + 100 * step


@pytest.fixture
def written(out):
    with tailrace.open("waves.yaml", text=CONFIG.format(path=out)) as client:
        for step, count in enumerate(COUNTS):
            client.set_parameters(n=count, left=float(step))
            client.write("T", step, plane(step))
            client.write("E/x", step, plane(step) + 1)
            client.write("E/y", step, plane(step) + 2)
            client.write("line", step, np.arange(3, dtype=np.float32) * step)
            client.write("window", step, np.arange(4, dtype=np.int32))
            client.write("cube", step, np.full((2, 3, 4), step, np.float32))
            for number, record in enumerate(("position/x", "position/y", "weighting")):
                client.write(f"ions/{record}", step, np.full(count, 10.0 * step + number))
            client.end_iteration(step, time=0.25 * step)
    return out


def test_a_dataset_along_time(written):
    found = tailrace.read(written)
    assert found.attrs["author"] == "nobody"
    assert list(found.time.values) == [0, 0.25, 0.5] and found.time.attrs["unitSI"] == 1e-3
    assert list(found.iteration.values) == [0, 1, 2]
    assert set(found.data_vars) == {"T", "E_x", "E_y", "line", "window", "cube"}
    assert found["T"].dims == ("time", "y", "x") and found["T"].attrs["units"] == "K"
    assert list(found.x.values) == [-1, -0.5, 0, 0.5, 1, 1.5] and list(found.y.values) == [1, 3, 5, 7]
    assert found["E_x"].dims == ("time", "y", "E_x_x") and found["E_x_x"].values[0] == -0.75
    assert found["line"].dims == ("time", "line_x") and list(found["line_x"].values) == [0, 7, 14]
    assert found["window"].dims == ("time", "w") and found["w_of_time"].values[2, 0] == 2.0
    for step in range(3):
        assert np.array_equal(found["T"][step], plane(step)) and np.array_equal(found["E_y"][step], plane(step) + 2)


def test_only_what_is_used_is_read(written):
    found = tailrace.read(written)
    for step in (0, 2):
        (written / f"waves_c0_{step:06}.h5").unlink()
    assert np.array_equal(found["T"].isel(time=1), plane(1))
    with pytest.raises(FileNotFoundError):
        found["T"].isel(time=0).load()


@pytest.mark.parametrize("key", [
    {"time": 1, "x": 3}, {"time": [2, 0], "y": [3, 1]}, {"time": slice(None, None, -1), "x": slice(5, 0, -2)},
    {"x": [0, 0, 5], "y": [2, 1]}, {"time": [], "x": 0}, {"time": slice(0, 0)}, {"y": slice(1, 3), "x": [1, 4]}])
def test_every_way_of_indexing(written, key):
    lazy, loaded = tailrace.read(written), tailrace.read(written).load()
    assert np.array_equal(lazy["T"].isel(key).values, loaded["T"].isel(key).values)


def test_particles_of_one_iteration(written):
    found = tailrace.read(written, species="ions", iterations=[2])
    assert set(found.data_vars) == {"position_x", "position_y", "weighting", "charge", "positionOffset_x",
                                    "positionOffset_y"}
    assert np.array_equal(found["position_y"], np.full(8, 21.0)) and np.array_equal(found["charge"], np.full(8, 2.0))
    assert found.attrs["time"] == 0.5
    for arguments, expected in (({"species": "ions"}, "expected one"),
                                ({"species": "electrons", "iterations": [0]}, "found the species ions"),
                                ({"iterations": [0, 7]}, "expected 7"), ({"iterations": []}, "at least one")):
        with pytest.raises(ValueError, match=expected):
            tailrace.read(written, **arguments)


def test_without_xarray(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match="pip install xarray"):
        tailrace.read(written)


def test_which_series(written, run):
    with tailrace.open("waves.yaml", 1, text=CONFIG.format(path=written)) as client:
        client.write("T", 0, plane(7))
        client.end_iteration(0)
    with pytest.raises(ValueError, match="waves_c0, waves_c1, expected one; `tailrace join`"):
        tailrace.read(written)
    assert tailrace.read(written / "waves_c1_000000.h5")["T"].shape == (1, 4, 6)
    assert tailrace.read(written, name="waves_c0")["T"].shape == (3, 4, 6)
    with pytest.raises(ValueError, match="found no directory"):
        tailrace.read(written / "none")
    with pytest.raises(ValueError, match="expected one of the name x"):
        tailrace.read(written, name="x")


def test_xdmf_and_pmd_name_what_is_there(written, run):
    code, printed, _ = run("open", written, "--xdmf", "--pmd")
    assert code == 0 and "waves_c0.xmf" in printed and "waves_c0.pmd" in printed
    assert "line: it has 1 dimension," in printed
    assert (written / "waves_c0.pmd").read_text() == "waves_c0_%06T.h5\n"
    tree = xml.parse(written / "waves_c0.xmf")
    seen = set()
    for item in tree.iter("DataItem"):
        if item.get("Format") != "HDF":
            continue
        name, _, path = item.text.partition(":")
        with h5py.File(written / name) as file:
            dataset = file[path]
            assert " ".join(map(str, dataset.shape)) == item.get("Dimensions")
            assert str(dataset.dtype.itemsize) == item.get("Precision")
        seen.add(path.partition("/data/")[2])
    assert {"1/meshes/T", "2/meshes/E/x", "0/meshes/cube", "2/particles/ions/position/x"} <= seen
    assert [grid.get("Name") for grid in tree.getroot()[0]] == ["mesh 2x3x4", "mesh 4x6", "ions"]
    assert len(tree.findall(".//Grid[@Name='ions']/Grid")) == 3


def test_a_series_object(written):
    series = series_of.find(written)
    assert series.name == "waves_c0" and series.iterations == [0, 1, 2] and series.species(0) == ["ions"]
    assert [path.name for path in xdmf.write_pmd(series, written)] == ["waves_c0.pmd"]


VARYING = """\
tailrace: 1
name: varying
storage: {{path: {path}}}
memory: {{budget: 4 MiB}}
time: {{dt: 1, unit: fs}}
format: {{dimension_scales: {scales}}}
layouts:
  plane: {{type: float64, shape: [2, 3], axes: [y, x], unit: cm}}
  ring: {{type: float64, shape: [4], axes: [angle], unit: deg}}
variables: {{T: {{layout: plane, unit: K}}, around: {{layout: ring}}}}
"""


@pytest.fixture(params=["true", "false"])
def varying(out, request):
    with tailrace.open("varying.yaml", text=VARYING.format(path=out, scales=request.param)) as client:
        for step in range(3):
            client.write("T", step, np.full((2, 3), float(step)))
            client.write("around", step, np.full(4, float(step)))
            client.attribute(step, "model", "steady")
            client.attribute(step, "mood", f"step {step}")
            client.attribute(step, "residuals", [1.0 * step] * (step + 1))
            client.attribute(step, "limits", [0.0, 1.0 * step], "T")
            client.attribute(step, "scheme", "upwind", "T")
            if step == 1:
                client.attribute(step, "restarts", 7)
            client.end_iteration(step)
    return out


def test_attributes_of_iterations(varying):
    found = tailrace.read(varying)
    assert found.attrs["model"] == "steady" and found.attrs["dt"] == 1.0 and found["T"].attrs["scheme"] == "upwind"
    assert list(found["mood"].values) == ["step 0", "step 1", "step 2"] and found["mood"].dims == ("time",)
    assert np.array_equal(found["residuals"].values, [[0, np.nan, np.nan], [1, 1, np.nan], [2, 2, 2]], equal_nan=True)
    assert np.array_equal(found["restarts"].values, [np.nan, 7, np.nan], equal_nan=True)
    assert np.array_equal(found["T_limits"].values, [[0, 0], [0, 1], [0, 2]])
    assert not {"limits", "mood", "T_limits", "restarts"} & (set(found["T"].attrs) | set(found.attrs))
    second = tailrace.read(varying, iterations=[2])
    assert second.attrs["mood"] == "step 2" and second["T"].attrs["limits"] == [0, 2]


def test_units_of_coordinates(varying):
    found = tailrace.read(varying)
    assert {name: found[name].attrs["units"] for name in ("time", "x", "y", "angle")} == {
        "time": "fs", "x": "cm", "y": "cm", "angle": "deg"}
    assert found["T"].attrs["units"] == "K" and found.x.attrs["unitSI"] == 0.01


def test_what_is_read_can_be_stored_as_netcdf(varying, tmp_path):
    pytest.importorskip("netCDF4")
    found = tailrace.read(varying)
    found.to_netcdf(tmp_path / "copy.nc")
    with xarray.open_dataset(tmp_path / "copy.nc") as copy:
        assert np.array_equal(copy["T"], found["T"]) and copy.x.attrs["units"] == "cm"
        assert list(copy["mood"].values) == list(found["mood"].values)


ZIPPED = """\
import sys
import numpy as np, tailrace
with tailrace.open({{"name": "z", "memory": {{"budget": "4 MiB"}},
                    "layouts": {{"plane": {{"type": "float64", "shape": [64, 64]}}}},
                    "variables": {{"T": {{"layout": "plane", "compress": "zstd"}}}}}}, path=sys.argv[1]) as out:
    out.write("T", 0, np.ones((64, 64)))
    out.end_iteration(0)
{first}
try:
    print(tailrace.read(sys.argv[1])["T"].values.sum())
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize(("first", "printed"), [
    ("", "4096.0"),
    ("sys.modules['hdf5plugin'] = None", "the package hdf5plugin has the filter")])
def test_compressed_arrays(tmp_path, first, printed):
    """h5py alone does not know zstd: hdf5plugin, which does, has to be imported, or is named."""
    pytest.importorskip("hdf5plugin")
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    done = subprocess.run([sys.executable, "-c", ZIPPED.format(first=first), tmp_path / "out"], env=environment,
                          capture_output=True, text=True, check=False)
    assert printed in done.stdout, done.stdout + done.stderr
