"""`tailrace recover` and files of the format plain: those that a killed program left are found by its lock."""

import json
import os
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
import tailrace

PROGRAM = """\
import os, signal, sys
import numpy as np, tailrace
config, client = sys.argv[1], int(sys.argv[2])
out = tailrace.open(config, client, path=sys.argv[3])
for step in range(2):
    out.write("t", step, np.arange(1000.0) + step)
    if step == 0:
        out.end_iteration(0)
out.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""

CONFIG = """\
tailrace: 1
name: sim
place: {place}
memory: {{budget: 4 MiB}}
storage: {{file_per: process}}
format: {{kind: plain, file: "run{{iteration}}_of_{{client}}.h5", xdmf: every}}
layouts: {{l: {{type: float64, shape: [1000]}}}}
variables: {{t: {{layout: l}}}}
"""


@pytest.mark.parametrize("place", ["{kind: thread}", "{kind: core, cpus: none}"])
def test_what_a_killed_program_left(run, tmp_path, place):
    out = tmp_path / "out"
    (tmp_path / "sim.yaml").write_text(CONFIG.format(place=place))
    killed = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path / "sim.yaml", "3", out], check=False)
    assert killed.returncode == -9
    if "core" in place:
        _wait_for_the_server(run, out)
    whole, part = out / "run0_of_3.h5", out / "run1_of_3.h5.part"
    assert whole.exists() and part.exists() and (out / ".sim_c3.lock").exists()
    (out / "run1_of_4.h5.part").write_bytes(b"of somebody else")
    code, text, _ = run("recover", out, "--dry-run")
    assert code == 1 and "run1_of_3.h5.part  incomplete  to be removed" in " ".join(text.split(" "))
    code, text, message = run("recover", out)
    assert code == 0, text + message
    assert not part.exists() and not (out / ".sim_c3.lock").exists()
    assert (out / "run1_of_4.h5.part").exists()
    with h5py.File(whole) as opened:
        np.testing.assert_array_equal(opened["t"], np.arange(1000.0))
    assert run("recover", out)[0] == 0


def _wait_for_the_server(run, out):
    """The client's server ends a moment after it."""
    limit = time.monotonic() + 600
    while json.loads(run("inspect", out, "--json")[1])[0]["jobs"]:
        assert time.monotonic() < limit
        os.sched_yield()


def test_a_whole_file_is_published(run, tmp_path):
    """All but its last rename has been done."""
    (tmp_path / "sim.yaml").write_text(CONFIG.format(place="{kind: thread}"))
    out = tmp_path / "out"
    with tailrace.open(tmp_path / "sim.yaml", 0, path=out) as opened:
        opened.write("t", 0, np.arange(1000.0))
        opened.end_iteration(0)
    (out / "run0_of_0.h5").rename(out / "run0_of_0.h5.part")
    (out / ".sim_c0.lock").write_text("process 1 on a machine, writing 'run{iteration}_of_0.h5'")
    code, text, _ = run("recover", out)
    assert code == 0 and "published" in text
    assert (out / "run0_of_0.h5").exists()


@pytest.mark.parametrize("lock", ["process 1 on a machine, writing 'run{iteration}_of_0.h5'", "", None])
@pytest.mark.parametrize("whole", [True, False])
def test_an_xdmf_file_between_two_names(run, tmp_path, lock, whole):
    """A program that is killed after its HDF5 file has its name leaves the XDMF file without one."""
    (tmp_path / "sim.yaml").write_text(CONFIG.format(place="{kind: thread}"))
    out = tmp_path / "out"
    with tailrace.open(tmp_path / "sim.yaml", 0, path=out) as opened:
        opened.write("t", 0, np.arange(1000.0))
        opened.end_iteration(0)
    xdmf, part = out / "run0_of_0.xmf", out / "run0_of_0.xmf.part"
    text = xdmf.read_text()
    xdmf.unlink()
    part.write_text(text if whole else text[:-20])
    (out / "foreign.xmf.part").write_text(text)
    if lock is not None:
        (out / ".sim_c0.lock").write_text(lock)
        (out / ".sim_c0.lock").chmod(0o600)
    code, told, message = run("recover", out)
    assert code == 0 and ("published" if whole else "removed") in told, told + message
    left = {"foreign.xmf.part", "run0_of_0.h5"} | ({xdmf.name} if whole else set())
    assert {file.name for file in out.iterdir()} == left
    assert not whole or xdmf.read_text() == text


@pytest.mark.parametrize("whole", [True, False])
def test_the_next_run_finishes_an_xdmf_file(tmp_path, whole):
    """The HDF5 file that it belongs to has lost its name, too."""
    config = CONFIG.format(place="{kind: thread}").replace("file_per: process", "existing: continue")
    (tmp_path / "sim.yaml").write_text(config)
    out = tmp_path / "out"
    with tailrace.open(tmp_path / "sim.yaml", 0, path=out) as opened:
        opened.write("t", 0, np.arange(1000.0))
        opened.end_iteration(0)
    xdmf, part = out / "run0_of_0.xmf", out / "run0_of_0.xmf.part"
    text = xdmf.read_text()
    xdmf.unlink()
    part.write_text(text if whole else text[:-20])
    (out / "run0_of_0.h5").rename(out / "run0_of_0.h5.part")
    tailrace.open(tmp_path / "sim.yaml", 0, path=out).close()
    assert {file.name for file in out.iterdir()} == {"run0_of_0.h5"} | ({xdmf.name} if whole else set())
    assert not whole or xdmf.read_text() == text
