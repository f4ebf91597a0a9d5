"""How tests run programs with the HDF5 connector, and without it."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import REPOSITORY
from tailrace.cli import run as run_command

# HDF5 1.14, shared, with its tools: tools/build_hdf5_tests.sh. Another one in tools/hdf5_matrix.py.
HDF5 = pathlib.Path(os.environ.get("TAILRACE_TEST_HDF5", REPOSITORY / ".deps/hdf5-tests"))
PLACES = ("thread", "core")


def environment(directory, place="thread", budget="16MiB", config=None, close=None):
    """Returns the environment with the connector, whose own files are in `directory`."""
    added = run_command.variables(config, *((place, budget) if config is None else (None, None)), {}, close=close)
    return {**without(directory), **added}


def without(directory):
    """Returns the environment without the connector."""
    # Importing netCDF4 sets HDF5_PLUGIN_PATH, for filters that only fit its own HDF5.
    inherited = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    return {**inherited, "XDG_RUNTIME_DIR": str(directory), "TAILRACE_RUNTIME_DIR": str(directory / "run"),
            "LD_LIBRARY_PATH": str(HDF5 / "lib")}


def as_nobody_special():
    """Returns the beginning of a command for which file modes are binding, even for root."""
    if os.geteuid() != 0:
        return []
    without_them = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={without_them}", f"--inh-caps={without_them}"]


def hdf5_program(name):
    """Returns a program of HDF5 itself."""
    if not (HDF5 / "bin" / name).exists():
        pytest.skip(f"no {name} in .deps/hdf5-tests: tools/build_hdf5_tests.sh makes it")
    return HDF5 / "bin" / name


def execute(*command, env=None, **more):
    """Runs a program that must succeed without a complaint; returns what it printed."""
    done = subprocess.run([str(each) for each in command], env=env, capture_output=True, text=True, timeout=600,
                          check=False, **more)
    assert done.returncode == 0 and not done.stderr, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def python(text, *arguments, **more):
    return execute(sys.executable, "-c", text, *arguments, **more)
