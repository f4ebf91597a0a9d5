"""Independent readers, openPMD-api and its validator; and other copies of HDF5 in the same process."""

import subprocess
import sys

import numpy as np
import pytest
import tailrace

TEXT = """\
tailrace: 1
name: wave
memory: {{budget: 4 MiB}}
storage: {{path: {path}}}
time: {{dt: 0.5, unit: s}}
layouts:
  plane: {{type: float32, shape: [4, 6], axes: [y, x], spacing: [2, 3], origin: [10, 20], unit: km}}
  line: {{type: int64, shape: [5]}}
variables:
  height: {{layout: plane, unit: m, description: of the surface}}
  pressure: {{layout: plane, unit: hPa}}
  count: {{layout: line}}
"""
STEPS = (0, 1, 7)


def height(step):
    return np.arange(24, dtype=np.float32).reshape(4, 6) + step


@pytest.fixture
def series(out):
    with tailrace.open("wave.yaml", text=TEXT.format(path=out)) as client:
        for step in STEPS:
            client.write("height", step, height(step))
            client.write("pressure", step, 2 * height(step))
            client.write("count", step, np.arange(5) * step)
            client.end_iteration(step)
    return out


def test_openpmd_api_opens_the_series_by_pattern(series):
    api = pytest.importorskip("openpmd_api")
    opened = api.Series(str(series / "wave_c0_%06T.h5"), api.Access.read_only)
    assert list(opened.iterations) == list(STEPS)
    assert opened.software == "tailrace"
    for step in STEPS:
        iteration = opened.iterations[step]
        assert (iteration.time, iteration.dt, iteration.time_unit_SI) == (0.5 * step, 0.5, 1.0)
        assert set(iteration.meshes) == {"height", "pressure", "count"}
        mesh = iteration.meshes["height"]
        assert mesh.axis_labels == ["y", "x"] and mesh.grid_spacing == [2, 3]
        assert mesh.grid_global_offset == [10, 20] and mesh.grid_unit_SI == 1000
        assert mesh.unit_dimension == [1, 0, 0, 0, 0, 0, 0]
        component = mesh[api.Mesh_Record_Component.SCALAR]
        chunk = component.load_chunk()
        pressure = iteration.meshes["pressure"][api.Mesh_Record_Component.SCALAR]
        assert pressure.unit_SI == 100
        count = iteration.meshes["count"][api.Mesh_Record_Component.SCALAR].load_chunk()
        opened.flush()
        assert component.unit_SI == 1
        np.testing.assert_array_equal(chunk, height(step))
        np.testing.assert_array_equal(count, np.arange(5) * step)
    opened.close()


def test_the_openpmd_validator_finds_no_error(series):
    pytest.importorskip("openpmd_validator")
    for step in STEPS:
        result = subprocess.run(
            [sys.executable, "-m", "openpmd_validator.check_h5", "-i", series / f"wave_c0_{step:06d}.h5"],
            capture_output=True, text=True)
        assert result.returncode == 0 and "Result: 0 Errors" in result.stdout, result.stdout


@pytest.mark.parametrize("order", ["tailrace,h5py,netCDF4", "netCDF4,tailrace,h5py", "h5py,netCDF4,tailrace"])
def test_three_copies_of_hdf5_in_one_process(out, python, order):
    for module in ("h5py", "netCDF4"):
        pytest.importorskip(module)
    (out.parent / "wave.yaml").write_text(TEXT.format(path=out))
    result = python(f"import {order}, numpy\n" + """
with tailrace.open("wave.yaml") as client:
    for step in range(5):
        array = numpy.arange(24, dtype="f4").reshape(4, 6) + step
        with h5py.File("mine.h5", "w") as file, netCDF4.Dataset("mine.nc", "w") as data:
            client.write("height", step, array)
            file["height"] = array
            data.createDimension("y", 4)
            data.createDimension("x", 6)
            data.createVariable("height", "f4", ("y", "x"))[:] = array
            client.end_iteration(step)
        client.flush()
        with h5py.File(f"out/wave_c0_{step:06d}.h5") as ours, h5py.File("mine.h5") as file, \\
                netCDF4.Dataset("mine.nc") as data:
            for found in (ours[f"data/{step}/meshes/height"], file["height"], data["height"]):
                assert (found[:] == array).all()
        with netCDF4.Dataset(f"out/wave_c0_{step:06d}.h5") as data:
            assert (data[f"data/{step}/meshes/height"][:] == array).all()
print("all equal")
""")
    assert result.returncode == 0 and "all equal" in result.stdout, result
