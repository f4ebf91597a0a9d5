"""A forwarder gets SIGTERM while its file system hangs: it ends when that has answered, and nothing that its clients
have handed over is lost. Nothing depends on a clock: a gate holds the forwarder in a call of the file system."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
from conftest import wait_for_locks
from tailrace.cli import core_server
from test_forward import key, start, write_config  # noqa: F401 (fixtures)

pytestmark = pytest.mark.usefixtures("runtime_directory")

STEPS = range(30)

# Writes iterations and a raw file.
WRITER = """\
import sys
import numpy as np, tailrace
with tailrace.open(sys.argv[1], 0) as out, out.open_file("one.raw", "truncate") as raw:
    for step in range(int(sys.argv[2])):
        raw.write(np.full(70_000, step, "u1"), 70_000 * step)
        out.write("small", step, np.full(7, step, dtype="f4"))
        out.end_iteration(step)
"""


@pytest.fixture
def programs():
    """Starts programs, and kills those that a failed test has left."""
    with contextlib.ExitStack() as ends:
        def begin(*command):
            child = subprocess.Popen([*map(str, command)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            ends.enter_context(child)
            ends.callback(child.kill)
            return child
        yield begin


def wait_until_taken(process, number):
    """Waits until the process has taken a signal that was sent to it."""
    while True:
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("ShdPnd:") and not int(line.split()[1], 16) >> number - 1 & 1:
                return


@pytest.mark.parametrize(("kind", "loss", "hangs"), [
    ("thread", "next", ".h5.part open"), ("thread", "next", ".h5.part write"), ("thread", "next", ".h5.part sync"),
    ("thread", "next", ".h5 rename"), ("thread", "direct", ".h5.part open"), ("thread", "direct", ".h5 rename"),
    ("core", "next", ".h5.part open"), ("core", "next", ".h5 rename"), ("core", "direct", ".h5.part open"),
    ("core", "direct", ".h5.part write"),
])
def test_a_terminated_forwarder_waits_for_its_file_system(tmp_path, key, start, gates, programs,  # noqa: F811
                                                          kind, loss, hangs):
    out = tmp_path / "out"
    held = gates(hangs)
    leaving = start("io1", environment=held.environment, storage={"backend": "posix"})
    others = [start("io2")] if loss == "next" else []
    file = write_config(tmp_path, out, [one.address for one in (leaving, *others)], key, kind, on_forwarder_loss=loss)
    text = json.loads(file.read_text())
    text["storage"]["durability"] = "durable"
    file.write_text(json.dumps(text))
    program = programs(sys.executable, "-c", WRITER, file, len(STEPS))
    assert held.wait() == leaving.process.pid
    leaving.process.send_signal(signal.SIGTERM)
    wait_until_taken(leaving.process.pid, signal.SIGTERM)
    assert leaving.process.poll() is None
    held.let_go()
    assert leaving.process.wait(timeout=600) == 0
    errors = program.communicate(timeout=600)[1]
    assert program.returncode == 0, errors
    assert leaving.messages() == ""
    assert sorted(out.glob("*.h5")) == [out / f"sim_c0_{step:06d}.h5" for step in STEPS]
    for step in STEPS:
        with h5py.File(out / f"sim_c0_{step:06d}.h5") as written:
            assert np.array_equal(written[f"data/{step}/meshes/small"], np.full(7, step, dtype="f4"))
    assert (out / "one.raw").read_bytes() == b"".join(bytes([step]) * 70_000 for step in STEPS)
    while core_server.jobs():
        pass
    wait_for_locks(out)
    assert sorted(one for one in os.listdir(out) if not one.endswith((".h5", ".log"))) == ["one.raw"]
