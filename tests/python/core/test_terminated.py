"""A batch system ends a node (SIGTERM) while its file system hangs: the server ends at once, and all that the program
has handed over is written by the next server, or by `tailrace recover`. Nothing depends on a clock: a gate holds the
server in a call of the file system."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
from conftest import wait_for_locks
from tailrace import striped
from tailrace.cli import core_server

pytestmark = pytest.mark.usefixtures("runtime_directory")

CLIENT = """\
import sys
import numpy as np, tailrace
with tailrace.open(sys.argv[1], 0) as out:
    def write(step):
        raw = out.open_file(f"raw_{step}.bin")
        raw.write(np.full(50_000, step + 1, "u1"), 0)
        out.write("field", step, step + np.arange(20_000.0))
        out.end_iteration(step)
        return raw
    raw = write(0)
    out.flush()
    raw.sync()
    print("confirmed", flush=True)
    sys.stdin.readline()
    raw = write(1)
    print("handed over", flush=True)
    sys.stdin.readline()
"""

# The calls of the file system that hang (see FileGate): opening, writing, syncing and publishing an iteration's file,
# opening and writing a raw file.
OPENS_RAW_FILE = "raw_1.bin "
HANGS = ["_000001.h5.part ", "_000001.h5.part write", "_000001.h5.part sync", "_000001.h5 rename", OPENS_RAW_FILE,
         "raw_1.bin write"]


@pytest.fixture(params=[1, 3], ids=["plain", "striped"])
def devices(request, tmp_path):
    return [tmp_path / f"d{number}" for number in range(request.param)]


@pytest.fixture
def program(devices, tmp_path):
    """Starts the program whose server the gate will hold, and returns it when the first iteration is confirmed."""
    config = {"tailrace": 1, "name": "sim", "place": {"kind": "core", "cpus": "none"}, "memory": {"budget": "4 MiB"},
              "storage": {"path": [str(one) for one in devices], "durability": "durable", "backend": "posix"},
              "layouts": {"large": {"type": "float64", "shape": [20_000]}},
              "variables": {"field": {"layout": "large"}}}
    if len(devices) > 1:
        config["storage"]["stripe"] = {"unit": "8 KiB"}
    (tmp_path / "sim.yaml").write_text(json.dumps(config))
    with contextlib.ExitStack() as ends:
        def start(gate):
            child = subprocess.Popen([sys.executable, "-c", CLIENT, tmp_path / "sim.yaml"], text=True, bufsize=1,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     env={**os.environ, **gate.environment})
            ends.enter_context(child)
            ends.callback(child.kill)
            assert child.stdout.readline() == "confirmed\n"
            return child
        yield start


def terminate(pid):
    """Sends SIGTERM to a process that is not a child of this one, and waits for its end."""
    handle = os.pidfd_open(pid)
    os.kill(pid, signal.SIGTERM)
    select.select([handle], [], [])
    os.close(handle)


def contents(path, is_striped):
    """Opens a file of the program for reading."""
    return striped.StripedFile(path) if is_striped else path.open("rb")


def check_all(devices):
    """Everything that was handed over is there, and nothing else."""
    names = sorted(path.name for path in devices[0].iterdir() if path.suffix != ".log")
    expected = sorted(f"{name.format(step)}" for name in ("raw_{}.bin", "sim_c0_{:06d}.h5") for step in (0, 1))
    assert [name for name in names if not striped.is_object_name(name)] == expected
    for step in (0, 1):
        with contents(devices[0] / f"raw_{step}.bin", len(devices) > 1) as raw:
            assert raw.read() == bytes([step + 1]) * 50_000
        with contents(devices[0] / f"sim_c0_{step:06d}.h5", len(devices) > 1) as file, h5py.File(file) as opened:
            assert np.array_equal(opened[f"data/{step}/meshes/field"], step + np.arange(20_000.0))


@pytest.mark.parametrize("hangs", HANGS)
def test_the_next_server_writes_what_a_terminated_one_had(devices, gates, program, runtime_directory, hangs):
    held = gates(hangs)
    child = program(held)
    child.stdin.write("\n\n")  # the client waits at its end, and starts the next server
    terminate(held.wait())
    held.wait()  # the next server, whose file system hangs, too
    assert child.poll() is None
    held.let_go()
    assert child.wait() == 0
    wait_for_locks(devices[0])
    while core_server.jobs():
        pass
    assert list(runtime_directory.glob("*")) == []
    assert not list(devices[0].glob(".*.lock"))
    check_all(devices)


@pytest.mark.parametrize("hangs", [one for one in HANGS if one != OPENS_RAW_FILE])
def test_recover_writes_what_a_terminated_node_had(devices, gates, program, run, runtime_directory, hangs):
    held = gates(hangs)
    child = program(held)
    child.stdin.write("\n")
    assert child.stdout.readline() == "handed over\n"
    server = held.wait()
    child.terminate()
    assert child.wait() == -signal.SIGTERM
    terminate(server)
    code, said, _ = run("recover", devices[0], "--json")
    assert code == 0 and all(one["done"] for one in json.loads(said))
    assert list(runtime_directory.glob("*")) == []
    assert not list(devices[0].glob(".*.lock"))
    check_all(devices)
