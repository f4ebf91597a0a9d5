"""Going on after a crash: the last whole iteration is found, and read back, in each place."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import tailrace
from conftest import own_node

CONFIG = """\
tailrace: 1
name: restart
place: {{kind: {kind}}}
storage: {{path: {path}, existing: continue}}
memory: {{budget: 1 MiB}}
layouts: {{l: {{type: float64, shape: [100]}}}}
variables: {{x: {{layout: l}}, y: {{layout: l, compress: zstd}}}}
"""

PROGRAM = """
import os, signal, sys
import numpy as np, tailrace
out = tailrace.open("restart.yaml", text=sys.stdin.read())
last = out.last_iteration()
state = np.zeros(100) if last is None else out.read("x", last)
for step in range(0 if last is None else last + 1, int(sys.argv[1])):
    state += step
    out.write("x", step, state)
    out.write("y", step, 2 * state)
    out.end_iteration(step)
    if step == int(sys.argv[2]):
        out.flush()
        out.write("x", step + 1, state)
        os.kill(os.getpid(), signal.SIGKILL)
out.close()
print(last, state[0])
"""


def run_to(text, end, dies_at):
    return subprocess.run([sys.executable, "-c", PROGRAM, str(end), str(dies_at)], input=text, text=True,
                          capture_output=True, env=os.environ)


@pytest.mark.parametrize("kind", ["thread", "core"])
def test_a_program_goes_on_where_it_was_killed(out, kind):
    text = CONFIG.format(kind=kind, path=out)
    with own_node():
        for dies_at in (3, 7):
            assert run_to(text, 20, dies_at).returncode == -signal.SIGKILL
            tailrace.recover(out)
        done = run_to(text, 12, -1)
        assert done.stdout == f"7 {float(sum(range(12)))}\n", done.stderr
        with tailrace.open("restart.yaml", text=text) as client:
            assert client.last_iteration() == 11 and client.last_time() == 11.0
            assert np.array_equal(client.read("y", 11), np.full(100, 2.0 * sum(range(12))))


@pytest.mark.parametrize("kind", ["thread", "core"])
def test_without_an_earlier_run_there_is_none(out, kind):
    with own_node(), tailrace.open("restart.yaml", text=CONFIG.format(kind=kind, path=out)) as client:
        assert client.last_iteration() is None and client.last_time() is None
        client.write("x", 5, np.zeros(100))
        client.end_iteration(5)
        client.flush()
        assert client.last_iteration() is None  # it says what was there at open


TIMED = """\
tailrace: 1
name: timed
place: {{kind: {kind}}}
storage: {{path: {path}, existing: continue, iterations_per_file: {each}}}
time: {{dt: 0.5, unit: {unit}}}
format: {{{format}}}
memory: {{budget: 4 MiB}}
layouts: {{line: {{type: float64, shape: [3]}}}}
variables: {{y: {{layout: line}}}}
"""


@pytest.mark.parametrize("kind", ["thread", "core"])
@pytest.mark.parametrize(("each", "format"), [
    (1, "kind: hdf5"), (4, "kind: hdf5"), (1, "kind: plain, file: 't_{iteration}_c{client}.h5'")])
def test_the_time_of_the_last_iteration(out, kind, each, format):
    """A program with steps of changing length needs it to go on, and no iteration's number says it."""
    settings = {"kind": kind, "path": out, "each": each, "format": format}
    with own_node(), tailrace.open("timed.yaml", text=TIMED.format(unit="ms", **settings)) as client:
        for step, time in enumerate((0.0, 0.1, 0.3)):
            client.write("y", step, np.zeros(3))
            client.end_iteration(step, time=time)
    with own_node(), tailrace.open("timed.yaml", text=TIMED.format(unit="ms", **settings)) as client:
        assert client.last_iteration() == 2 and client.last_time() == 0.3
    with own_node(), tailrace.open("timed.yaml", text=TIMED.format(unit="s", **settings)) as client:
        assert client.last_time() == pytest.approx(0.3e-3)
