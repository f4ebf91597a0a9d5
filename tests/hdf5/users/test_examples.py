"""The examples of docs/hdf5.md: programs that know nothing of tailrace leave the same file with and without it."""

import json
import pathlib
import sys

import h5py
import numpy as np
import pytest
from conftest import REPOSITORY
from hdf5.carried import PLACES, execute, hdf5_program, without

EXAMPLES = REPOSITORY / "examples/hdf5"
SHAPE = (32, 128, 128)
STEPS = 4

CONFIG = """\
tailrace: 1
name: hdf5
place: {{kind: {place}}}
storage: {{path: out}}
memory: {{budget: 32 MiB}}
measurements: {{report: true}}
"""


def program(language, directory):
    """Compiles it if necessary, as the page says."""
    if language in ("h5py", "netcdf4"):
        pytest.importorskip("netCDF4" if language == "netcdf4" else language)
        return [sys.executable, EXAMPLES / f"simulation_{language}.py"]
    wrapper, source = {"c": ("h5cc", "simulation.c"), "fortran": ("h5fc", "simulation.f90")}[language]
    execute(hdf5_program(wrapper), EXAMPLES / source, "-o", "simulation", cwd=directory)
    return ["./simulation"]


def check_fields(path):
    """The four write the same data, if not in the same way."""
    with h5py.File(path) as file:
        for step in range(STEPS):
            in_groups = f"step{step}" in file
            field = file[f"step{step}/temperature"][:] if in_groups else file["temperature"][step]
            time = file[f"step{step}"].attrs["time"] if in_groups else file["time"][step]
            assert time == pytest.approx(0.1 * step)
            assert (field.ravel() == 1000.0 * step + np.arange(np.prod(SHAPE))).all(), f"step {step}"


def carried_bytes(directory, name):
    """Returns what the report says about the file; removes the report, so that the next one is alone."""
    (report,) = pathlib.Path(directory, "out").glob("*.stats.json")
    files = json.loads(report.read_text())["files"]
    report.unlink()
    return sum(file["bytes_written"] for file in files if pathlib.Path(file["path"]).name == name)


@pytest.mark.parametrize("language", ["c", "fortran", "h5py", "netcdf4"])
def test_an_example_leaves_the_same_file(language, tmp_path):
    where = {"cwd": tmp_path, "env": without(tmp_path)}
    command = program(language, tmp_path)
    execute(*command, "plain.h5", **where)
    check_fields(tmp_path / "plain.h5")
    for place in PLACES:
        (tmp_path / f"{place}.yaml").write_text(CONFIG.format(place=place))
        execute(sys.executable, "-m", "tailrace.cli", "run", "--config", f"{place}.yaml", "--", *command,
                f"{place}.h5", **where)
        assert carried_bytes(tmp_path, f"{place}.h5") >= STEPS * np.prod(SHAPE) * 8
        execute("h5diff", "plain.h5", f"{place}.h5", **where)
        check_fields(tmp_path / f"{place}.h5")
