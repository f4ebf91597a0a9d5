"""Parallel HDF5 in a program whose MPI-IO tailrace carries, alone and beside the HDF5 connector.

HDF5 relies on more than MPI-IO promises: its ranks write, then meet in a barrier, and another rank writes over the
same bytes (fill values, reused space), without a sync of the file. The program, tests/hdf5/programs/parallel.c, does
all of that and checks what its ranks read. Where the connector carries the data, the library leaves HDF5's files
alone.
"""

import os
import pathlib
import subprocess

import h5py
import pytest
from tailrace import mpis
from tailrace.cli import run as run_command

REPOSITORY = pathlib.Path(__file__).parents[3]
HDF5 = REPOSITORY / ".deps" / "hdf5-parallel"
PROGRAMS = REPOSITORY / "tests/hdf5/programs"
RANKS = 4
# All but those that say nothing about this library, and `holes`, which takes longest.
CASES = ("rows", "tiles", "columns", "conversion", "nothing", "chunks", "fills", "across", "files", "several",
         "attributes", "reuse", "nameless", "atomic", "metadata", "serial", "later")


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Runs all cases, in a directory, with the library's settings (None: without it) and the connector's place."""
    try:
        mpi = mpis.chosen()
    except mpis.NoMpi as why:
        pytest.skip(str(why))
    script = REPOSITORY / "tools" / "build_hdf5_parallel.sh"
    if subprocess.run([script, "--is-built", HDF5], check=False).returncode != 0:
        pytest.skip(f"no parallel HDF5 for {mpi}; to build it: tools/{script.name} .deps/{HDF5.name}")
    library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
    if not library.is_file():
        pytest.skip(f"{library.name} is not installed")
    program = tmp_path_factory.mktemp("program") / "parallel"
    sources = [PROGRAMS / name for name in ("parallel.c", "yield.c", "fixed_time.c")]
    subprocess.run([mpi.cc, "-O1", "-rdynamic", *sources, "-o", program, f"-I{HDF5}/include", f"-L{HDF5}/lib",
                    "-lhdf5", f"-Wl,-rpath,{HDF5}/lib"], check=True)

    def run(directory, settings=None, connector=None):
        environment = {**os.environ, "MPIEXEC_TIMEOUT": "60", "OMPI_MCA_sharedfp": "^sm",
                       "OMPI_MCA_fbtl_posix_write_datasieving": "0",
                       "TAILRACE_RUNTIME_DIR": str(tmp_path_factory.mktemp("run") / "run")}
        if settings is not None:
            environment |= {"LD_PRELOAD": str(library), "TAILRACE_MPIIO": f"{settings} summary"}
        if connector is not None:
            environment |= run_command.variables(None, connector, "16MiB", {})
        done = subprocess.run(mpi.start(RANKS, program, directory, *CASES), env=environment, capture_output=True,
                              text=True, timeout=600, check=False)
        assert done.returncode == 0 and done.stdout.split() == list(CASES), done.stdout + done.stderr
        carried = settings is not None and connector is None  # else the connector carries, or nobody
        assert (" of MPI-IO data" in done.stderr) == carried, done.stderr
    return run


@pytest.fixture(scope="module")
def plain(start, tmp_path_factory):
    directory = tmp_path_factory.mktemp("plain")
    start(directory)
    return directory


def different(one, other):
    """Returns the names of the files that are not equal byte by byte."""
    names = sorted(path.name for path in one.glob("*.h5"))
    assert names and names == sorted(path.name for path in other.glob("*.h5"))
    return [name for name in names if (one / name).read_bytes() != (other / name).read_bytes()]


def values(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, thing: found.update(
            {name: thing[()].tobytes()} if isinstance(thing, h5py.Dataset) else {}))
    return found


@pytest.mark.parametrize("settings", ["", "place=core", "collective=individual"])
def test_the_files_are_those_of_plain_mpi_io(start, plain, tmp_path, settings):
    start(tmp_path, settings)
    assert different(plain, tmp_path) == []


@pytest.fixture(scope="module")
def connector_alone(start, tmp_path_factory):
    directory = tmp_path_factory.mktemp("alone")
    start(directory, connector="thread")
    return directory


@pytest.mark.parametrize("place", ["thread", "core"])
def test_the_files_beside_the_connector_are_as_without_the_library(start, plain, connector_alone, tmp_path, place):
    """HDF5 gives some datasets another place in the file if the connector writes them, so plain files have other
    bytes, but the same values."""
    start(tmp_path, f"place={place}" if place == "core" else "", connector=place)
    assert different(connector_alone, tmp_path) == []
    for path in tmp_path.glob("*.h5"):
        assert values(path) == values(plain / path.name), path.name
