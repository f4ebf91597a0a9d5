"""Ends of programs without a close: each cell of the tables in docs/ends.md, for the doors and for the API. What is
`kept` is whole; what `may be lost` has no wrong bytes. (tests/openfoam/test_kills.py has OpenFOAM's.)"""

import os
import pathlib
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from tailrace.cli import core_server
from tailrace.cli import run as run_command

REPOSITORY = pathlib.Path(__file__).parents[3]
PAGE = (REPOSITORY / "docs/ends.md").read_text()
LIMIT = 600.0  # seconds
BYTES = 8 << 20
WORDS = BYTES // 8

pytestmark = pytest.mark.usefixtures("runtime_directory")


PLACES = ("thread", "core")


def rows(title):
    """Returns (end, {column: is kept}) for each row of the table below that title."""
    text = PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    head, _, *lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()
                       if line.startswith("|")]
    assert lines and all(cell in ("kept", "may be lost") for line in lines for cell in line[1:])
    return [pytest.param(line[0].replace("`", ""), dict(zip(head[1:], [cell == "kept" for cell in line[1:]],
                                                            strict=True)), id=line[0].replace("`", ""))
            for line in lines]


def kept(columns, state, place):
    """Returns what the row says of a state; its column may have the place, too."""
    found = [cell for column, cell in columns.items() if column in (state, f"{state}, {place}")]
    assert len(found) == 1, (columns, state, place)
    return found[0]


def configuration(directory, place, more=""):
    """Slow storage: what is not waited for is still on its way at the end."""
    path = directory / f"{place}.yaml"
    path.write_text(f"tailrace: 1\nname: ends\nplace: {{kind: {place}}}\nmemory: {{budget: 64 MiB}}\n"
                    f"storage: {{path: {directory}, throttle: 16 MiB/s}}\nlog: {{level: error}}\n{more}")
    return path


def run(command, directory, environment):
    """Runs a program to its end, and waits for servers. Returns the exit code."""
    with (directory / "messages").open("w") as messages:
        done = subprocess.run([str(word) for word in command], cwd=directory, env={**os.environ, **environment},
                              stdout=messages, stderr=messages, timeout=LIMIT, check=False)
    deadline = time.monotonic() + LIMIT
    while core_server.jobs():
        assert time.monotonic() < deadline, core_server.jobs()
        time.sleep(0.01)
    return done.returncode


def check_bytes(found, right, is_kept, directory):
    """Compares an array with what it should be. Where data may be lost, zeros may be in their place."""
    said = (directory / "messages").read_text()
    if is_kept:
        assert len(found) == len(right) and (found == right).all(), said
    else:
        assert ((found == right[:len(found)]) | (found == 0)).all(), said


# ---- MPI-IO -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("end", "columns"), rows("MPI-IO"))
def test_mpiio(tmp_path, mpi, end, columns, place):
    program = REPOSITORY / f"build/release/tests/mpiio/mpiio_ends_{mpi.name}"
    library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
    if not program.is_file() or not library.is_file():
        pytest.skip(f"the program for {mpi.name} is not built")
    environment = {"LD_PRELOAD": str(library), "OMPI_MCA_sharedfp": "^sm",
                   "TAILRACE_MPIIO": f"config={configuration(tmp_path, place)}"}
    run(mpi.start(1, program, tmp_path / "file", end.split()[0]), tmp_path, environment)
    for state in ("written", "flushed", "closed"):
        found = np.fromfile(tmp_path / f"file.{state}", "u1")
        check_bytes(found, np.full(BYTES, ord("k"), "u1"), kept(columns, state, place), tmp_path)


# ---- HDF5 -------------------------------------------------------------------------------------------------------

END = """
import ctypes, os, signal, sys
def end(how):
    libc = ctypes.CDLL(None)
    {"exit": lambda: libc.exit(0), "quick_exit": lambda: libc.quick_exit(0), "_exit": lambda: os._exit(0),
     "exec": lambda: os.execv("/bin/true", ["true"]), "abort": os.abort}.get(
        how, lambda: os.kill(os.getpid(), getattr(signal, how)))()
    while True:
        signal.pause()
"""

HDF5 = END + """
import h5py, numpy as np
path, how, *states = sys.argv[1:]
files = {state: h5py.File(f"{path}.{state}", "w") for state in states}
for state, file in files.items():
    file.create_dataset("a", (1 << 20,), "f8")
    if state != "closed":
        file["a"][...] = 0  # HDF5 gives it a place
        file.flush()
for state, file in files.items():
    file["a"][...] = np.arange(1 << 20)
    {"flushed": file.flush, "closed": file.close}.get(state, int)()
end(how)
"""

CODES = {"SIGTERM": -signal.SIGTERM, "SIGKILL": -signal.SIGKILL, "abort": -signal.SIGABRT}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("closed", ["closed", "closed, detach"])
@pytest.mark.parametrize(("end", "columns"), rows("HDF5"))
def test_hdf5(tmp_path, end, columns, closed, place):
    added = run_command.variables(configuration(tmp_path, place), None, None, {},
                                  close="detach" if "detach" in closed else None)
    # A close that waits, waits for all files.
    last = ("written", "closed") if "detach" in closed else ("closed", "written")
    code = run([sys.executable, "-c", HDF5, tmp_path / "file", end.split()[0], "flushed", *last], tmp_path, added)
    assert code == CODES.get(end, 0), (tmp_path / "messages").read_text()
    for state in ("written", "flushed", closed):
        is_kept = kept(columns, state, place)
        if is_kept or "detach" not in state:  # else it may be impossible to open it
            with h5py.File(tmp_path / f"file.{state.split(',')[0]}") as file:
                check_bytes(file["a"][...], np.arange(WORDS), is_kept, tmp_path)


# ---- the API ----------------------------------------------------------------------------------------------------

API = END + """
import numpy as np, tailrace
how, *configs = sys.argv[1:]
clients = []
for config in configs:
    clients.append(tailrace.open(config, client=0))
    clients[-1].write("a", 0, np.arange(1 << 20, dtype="f8"))
    clients[-1].end_iteration(0)
clients[0].close()
clients[1].flush()
end(how)
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("end", "columns"), rows("The API"))
def test_api(tmp_path, end, columns, place):
    end, _, option = end.partition(", ")
    configs = []
    for state in ("closed", "flushed", "written"):
        (tmp_path / state).mkdir()
        configs.append(configuration(tmp_path / state, place,
                                     f"layouts: {{l: {{type: float64, shape: [{WORDS}]}}}}\n"
                                     f"variables: {{a: {{layout: l}}}}\n{option}\n"))
    code = run([sys.executable, "-c", API, end, *configs], tmp_path, {})
    assert code == CODES.get(end, 0), (tmp_path / "messages").read_text()
    for state in ("closed", "flushed", "written"):
        path = tmp_path / state / "ends_c0_000000.h5"
        assert path.exists() or not kept(columns, state, place), (tmp_path / "messages").read_text()
        if path.exists():  # whole, or not there
            with h5py.File(path) as file:
                check_bytes(file["data/0/meshes/a"][...], np.arange(WORDS), True, tmp_path)
