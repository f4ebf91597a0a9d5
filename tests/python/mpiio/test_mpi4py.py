"""Programs with mpi4py under each MPI of the machine: tailrace.open with a communicator, tailrace.mpi, and MPI-IO
that the preloaded library carries."""

import os
import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
from tailrace.cli import run as run_command

pytest.importorskip("mpi4py")
pytestmark = pytest.mark.usefixtures("runtime_directory")

# The library of MPICH's common interface, which mpi4py's package loads, and its name in some distributions.
COMMON, OTHER_NAME = "libmpi.so.12", "libmpich.so.12"

OPEN = """
import sys
import numpy as np
from mpi4py import MPI
import tailrace
comm = MPI.COMM_WORLD
part = np.full((2, 3), float(comm.rank))
declared = tailrace.Variable.like(part, global_shape=("rows", 3), offset=("first", 0))
with tailrace.open(name="sim", variables={"a": declared}, comm=comm, place="core", budget="4 MiB", path="out",
                   file_per="job", parameters={"rows": 2 * comm.size, "first": 2 * comm.rank}) as out:
    assert out.client == comm.rank
    out.write("a", 0, part)
    out.end_iteration(0)
"""

SPLIT = """
import numpy as np
from mpi4py import MPI
import tailrace.mpi
config = "sim.yaml"
computing = tailrace.mpi.split(MPI.COMM_WORLD, config)
if computing != MPI.COMM_NULL:
    with tailrace.mpi.open(computing, config) as out:
        out.write("a", 0, np.full((2, 3), float(computing.rank)))
        out.end_iteration(0)
    computing.Free()
"""

CONFIG = """\
tailrace: 1
name: sim
place: {kind: core, clients: local_size}
memory: {budget: 4 MiB}
storage: {path: out, file_per: job}
parameters: {local_size: 1, size: 1, rank: 0}
layouts: {part: {type: float64, shape: [2, 3], global: [total, 3], offset: [first, 0]}}
variables: {a: {layout: part}}
"""

SPLIT_WITHOUT_FILE = """
import numpy as np
from mpi4py import MPI
import tailrace.mpi
part = np.full((2, 3), float(MPI.COMM_WORLD.rank))
declared = tailrace.Variable.like(part, spacing=("step", 1))
settings = dict(name="sim", variables={"a": declared}, place="core", budget="4 MiB", path="out",
                parameters={"step": 0.5})
computing = tailrace.mpi.split(MPI.COMM_WORLD, **settings)
if computing != MPI.COMM_NULL:
    with tailrace.mpi.open(computing, **settings) as out:
        out.write("a", 0, part)
        out.end_iteration(0)
    computing.Free()
made = {"tailrace": 1, "name": "sim", "place": {"kind": "core"}, "storage": {"path": "other"},
        "memory": {"budget": "4 MiB"}, "layouts": {"l": {"type": "float64", "shape": [2, 3]}},
        "variables": {"a": {"layout": "l"}}}
computing = tailrace.mpi.split(MPI.COMM_WORLD, made)
if computing != MPI.COMM_NULL:
    with tailrace.mpi.open(computing, made) as out:
        out.write("a", 0, part)
        out.end_iteration(0)
    computing.Free()
"""

FAIL = """
from mpi4py import MPI
import tailrace.mpi
try:
    tailrace.mpi.split(MPI.COMM_WORLD, "sim.yaml", cores=MPI.COMM_WORLD.size)
except ValueError as error:
    assert "expected more than the 2 servers" in str(error), error
try:
    tailrace.mpi.split(MPI.COMM_WORLD, variabels={})
except TypeError as error:
    assert "unexpected keyword argument 'variabels'" in str(error), error
try:
    tailrace.open({"tailrace": MPI.COMM_WORLD.rank + 1, "name": "sim"}, comm=MPI.COMM_WORLD).close()
    assert MPI.COMM_WORLD.rank == 0
except tailrace.Error:
    assert MPI.COMM_WORLD.rank == 1
"""

MPIIO = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
part = np.arange(1000.0) + 1000 * comm.rank
assert comm.allreduce(comm.rank) == comm.size * (comm.size - 1) // 2
file = MPI.File.Open(comm, "whole", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(8 * 1000 * comm.rank, MPI.DOUBLE)
file.Write_at_all(0, part[:500])
file.Seek(500)
file.Write(part[500:])
got = np.empty(1000)
file.Read_at(0, got)
assert np.array_equal(got, part)
file.Close()
"""

#: The last rank, one of two servers, gets no temporary folder; then no rank does.
REFUSED = """
import tempfile
from mpi4py import MPI
import tailrace.mpi
comm = MPI.COMM_WORLD
made = {"tailrace": 1, "name": "sim", "place": {"kind": "core", "cores": 2}, "storage": {"path": "out"},
        "memory": {"budget": "4 MiB"}, "layouts": {"l": {"type": "float64", "shape": [2, 3]}},
        "variables": {"a": {"layout": "l"}}}
for last in (True, False):
    tempfile.tempdir = "/no/such/folder" if comm.rank == comm.size - 1 or not last else None
    try:
        tailrace.mpi.split(comm, made, cores=2)
    except OSError as error:
        assert "/no/such/folder" in str(error), error
        assert ("rank 3: " in str(error)) == (last and comm.rank < 3), error
    else:
        raise AssertionError("split has returned")
"""


def with_common_name(folder):
    """Returns a search path for libraries on which MPICH has its common name."""
    loaded = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    if COMMON not in loaded and (found := re.search(rf"{re.escape(OTHER_NAME)} .*=> (\S+)", loaded)):
        folder.mkdir()
        (folder / COMMON).symlink_to(found[1])
    return f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"


def run(mpi, processes, program, directory, **variables):
    environment = {**os.environ, "MPI4PY_MPIABI": mpi.name, **variables}
    if mpi.name == "mpich":
        environment["LD_LIBRARY_PATH"] = with_common_name(directory / "libraries")
    result = subprocess.run(mpi.start(processes, sys.executable, "-c", program), cwd=directory, env=environment,
                            capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stderr
    return result


def expect_whole(file, ranks):
    with h5py.File(file) as opened:
        np.testing.assert_array_equal(opened["data/0/meshes/a"], np.repeat(np.arange(ranks), 6).reshape(-1, 3))


def test_the_ranks_of_a_node_are_clients_of_its_server(mpi, tmp_path):
    run(mpi, 2, OPEN, tmp_path)
    expect_whole(tmp_path / "out/sim_000000.h5", 2)


def test_the_last_rank_becomes_the_server(mpi, tmp_path):
    config = CONFIG.replace("total", "6").replace("offset: [first, 0]", "offset: [0, 0]")
    (tmp_path / "sim.yaml").write_text(config.replace("file_per: job", "file_per: process"))
    run(mpi, 4, SPLIT, tmp_path)
    for rank in range(3):
        with h5py.File(tmp_path / f"out/sim_c{rank}_000000.h5") as file:
            np.testing.assert_array_equal(file["data/0/meshes/a"], np.full((2, 3), rank))
    assert not list((tmp_path / "out").glob("sim_core0_*.log")), "only a server that a client has started makes one"


def test_a_server_needs_no_file(mpi, tmp_path):
    run(mpi, 3, SPLIT_WITHOUT_FILE, tmp_path)
    for rank in range(2):
        for folder in ("out", "other"):
            with h5py.File(tmp_path / f"{folder}/sim_c{rank}_000000.h5") as file:
                np.testing.assert_array_equal(file["data/0/meshes/a"], np.full((2, 3), rank))
            assert not list((tmp_path / folder).glob("sim_core0_*.log")), "a client has started a server"


def test_failures_reach_the_ranks_that_they_concern(mpi, tmp_path):
    run(mpi, 2, FAIL, tmp_path)


def test_mpiio_is_carried(mpi, tmp_path):
    """Python loads the MPI for itself, so its symbols are in no global scope."""
    library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
    if not library.is_file():
        pytest.skip(f"there is no {library.name}")
    done = run(mpi, 2, MPIIO, tmp_path, LD_PRELOAD=str(library), TAILRACE_MPIIO="summary", OMPI_MCA_sharedfp="^sm")
    assert done.stderr.count("2 writes of MPI-IO data") == 2, done.stderr
    np.testing.assert_array_equal(np.fromfile(tmp_path / "whole"), np.arange(2000))


def test_no_file_of_mpiio_is_used(mpi, tmp_path):
    library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
    if not library.is_file():
        pytest.skip(f"there is no {library.name}")
    run(mpi, 2, "from mpi4py import MPI; assert MPI.COMM_WORLD.allreduce(1) == 2", tmp_path, LD_PRELOAD=str(library))


def test_no_rank_waits_for_a_server_that_cannot_be_started(mpi, tmp_path):
    run(mpi, 4, REFUSED, tmp_path)
