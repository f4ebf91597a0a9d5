"""Actions of place core, end to end: real clients, a real server, its plugin hosts, and independent readers.

Nothing depends on a clock, except that a short limit ends functions that hang.
"""

import os
import pathlib
import re
import select
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
from conftest import REPOSITORY
from tailrace.cli import core_server

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: core, clients: {clients}}}
memory: {{budget: {budget}}}
storage: {{path: {path}}}
log: {{level: info}}
layouts:
  plane: {{type: float64, shape: [16, 24]}}
  whole: {{type: int16, shape: [50]}}
  single: {{type: float32, shape: [9, 3, 2]}}
  large: {{type: float64, shape: [64, 1024]}}
variables:
  height: {{layout: plane, unit: m, keep: {keep}}}
  counts: {{layout: whole}}
  speed: {{layout: single, unit: m/s}}
  {large}
actions:
{actions}
"""

# Opens as client argv[2], and runs the lines that it gets, one after the other; it answers each with a line. Failures
# of earlier requests go into `told`.
CLIENT = """
import sys, numpy as np, tailrace
told = []
def tell(verb, *arguments):
    try:
        return verb(*arguments)
    except tailrace.Error as error:
        told.append(f"{error.status}: {error}")
client = int(sys.argv[2])
out = tailrace.open(sys.argv[1], client)
def data(variable, step):
    rng = np.random.default_rng([client, step, len(variable)])
    if variable == "counts":
        return rng.integers(-1000, 1000, 50, dtype=np.int16)
    if variable == "speed":
        values = rng.normal(size=(9, 3, 2)).astype(np.float32)
        values[0, 0, 0], values[1, 1, 1], values[2, 2, 1] = np.nan, np.inf, -np.inf
        return values
    return rng.normal(size=(64, 1024) if variable == "large" else (16, 24))
def write(step, *variables):
    for variable in variables or ("height", "counts", "speed"):
        tell(out.write, variable, step, data(variable, step))
def step(number, *events):
    write(number)
    for event in events:
        tell(out.signal, event, number)
    tell(out.end_iteration, number)
print("open", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
tell(out.flush)
tell(out.close)
print(told, flush=True)
"""

FUNCTIONS = """
import os, numpy as np
def sums(event, iteration, blocks):
    found = {"clients": ",".join(map(str, blocks.clients))}
    for name, of in blocks.items():
        for block in of:
            assert isinstance(block.data, np.ndarray)
            assert not block.data.flags.owndata and not block.data.flags.writeable
            found[f"{name}/{block.iteration}/{block.source}"] = block.data.astype(float).ravel()
    return found
def raises(event, iteration, blocks):
    raise ValueError("no storm in the data")
def crashes(event, iteration, blocks):
    os.kill(os.getpid(), 11)
def leaves(event, iteration, blocks):
    os._exit(3)
def hangs(event, iteration, blocks):
    while True:
        pass
def writes(event, iteration, blocks):
    import ctypes
    ctypes.memset(blocks["height"][0].data.__array_interface__["data"][0], 1, 8)
def stops_once(event, iteration, blocks):
    \"\"\"The first time, tells the test that it runs, and never comes back.\"\"\"
    here = os.path.dirname(__file__)
    first = not os.path.exists(here + "/ran")
    open(here + "/ran", "a").write(f"{iteration}\\n")
    if first:
        with open(here + "/runs", "w") as pipe:
            pipe.write("now")
        while True:
            pass
    return {"sum": sum(float(block.data.sum()) for block in blocks["height"])}
"""

C_FUNCTION = """
#include <tailrace/plugin.h>
TAILRACE_PLUGIN
TAILRACE_PLUGIN_EXPORT int total(const tailrace_plugin_call* call) {
  double sum = 0;
  for (size_t i = 0; i < call->block_count; ++i) {
    const tailrace_plugin_block* block = tailrace_plugin_block_at(call, i);
    for (size_t k = 0; k < block->bytes / sizeof(double); ++k) sum += ((const double*)block->data)[k];
  }
  call->report(call, "total", sum);
  return 0;
}
TAILRACE_PLUGIN_EXPORT int fails(const tailrace_plugin_call* call) {
  call->error(call, "the sea is too high");
  return 7;
}
"""


def data(client, variable, step):
    """Returns what CLIENT writes."""
    rng = np.random.default_rng([client, step, len(variable)])
    if variable == "counts":
        return rng.integers(-1000, 1000, 50, dtype=np.int16)
    if variable == "speed":
        values = rng.normal(size=(9, 3, 2)).astype(np.float32)
        values[0, 0, 0], values[1, 1, 1], values[2, 2, 1] = np.nan, np.inf, -np.inf
        return values
    return rng.normal(size=(64, 1024) if variable == "large" else (16, 24))


pytestmark = pytest.mark.usefixtures("runtime_directory")


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Writes a configuration with these actions."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)  # the packages are those of the clients' own environment
    (tmp_path / "functions.py").write_text(FUNCTIONS)

    def write(*actions, clients=1, keep=0, budget="4 MiB", large=""):
        file = tmp_path / "sim.yaml"
        items = "".join(f"  - {{{action}}}\n" for action in actions)
        file.write_text(CONFIG.format(path=tmp_path / "out", actions=items, clients=clients, keep=keep, budget=budget,
                                      large=large))
        return file

    return write


class Client:
    """A client in a separate process."""

    def __init__(self, config, number=0):
        self.number = number
        self.process = subprocess.Popen([sys.executable, "-c", CLIENT, config, str(number)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.expect("open")

    def expect(self, line):
        assert self.process.stdout.readline() == line + "\n"

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def run(self, *lines):
        """Runs each line there, and waits for its end."""
        for line in lines:
            self.send(line)
            self.expect("done")

    def begin_close(self):
        self.process.stdin.close()

    def close(self):
        """Returns the failures reported there."""
        self.begin_close()
        told = eval(self.process.stdout.readline())  # noqa: S307 (a list of texts, of our own)
        assert self.process.wait() == 0
        return told


@pytest.fixture
def client(config):
    started = []

    def start(file, number=0):
        started.append(Client(file, number))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def iteration(tmp_path, step, number=0):
    return h5py.File(tmp_path / "out" / f"sim_c{number}_{step:06}.h5")[f"data/{step}"]


def check_data(tmp_path, steps, number=0):
    for step in steps:
        group = iteration(tmp_path, step, number)
        for variable in ("height", "counts", "speed"):
            np.testing.assert_array_equal(group["meshes"][variable], data(number, variable, step))


def findings(group):
    """Returns the attributes of the actions, by name."""
    prefix = "tailraceAction_"
    return {name.removeprefix(prefix): value for name, value in group.attrs.items() if name.startswith(prefix)}


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def test_statistics_are_numpys(tmp_path, config, client):
    writer = client(config("on: end_iteration, run: store", "on: end_iteration, run: statistics"))
    writer.run("step(0)", "step(1)")
    assert writer.close() == []
    check_data(tmp_path, (0, 1))
    for step in (0, 1):
        found = findings(iteration(tmp_path, step))
        for variable in ("height", "counts", "speed"):
            values = data(0, variable, step).astype(np.float64).ravel()
            finite = values[np.isfinite(values)]
            of = {key: found[f"statistics_{variable}/0/{key}"]
                  for key in ("min", "mean", "max", "finite", "nan", "infinite", "histogram")}
            assert (of["min"], of["max"], of["finite"]) == (finite.min(), finite.max(), finite.size)
            assert (of["nan"], of["infinite"]) == (np.isnan(values).sum(), np.isinf(values).sum())
            assert of["mean"] == pytest.approx(finite.mean(), rel=1e-12)
            np.testing.assert_array_equal(of["histogram"], np.histogram(finite, 64)[0])


def test_a_python_function_sees_what_was_written_and_what_is_kept(tmp_path, config, client):
    writer = client(config('on: end_iteration, run: "python:functions.py:sums"', keep=2))
    writer.run(*(f"step({step})" for step in range(6)))
    assert writer.close() == []
    check_data(tmp_path, range(6))
    for step in range(6):
        found = findings(iteration(tmp_path, step))
        expected = {f"height/{kept}/0": data(0, "height", kept) for kept in range(max(0, step - 2), step + 1)}
        expected |= {f"{variable}/{step}/0": data(0, variable, step) for variable in ("counts", "speed")}
        assert set(found) == {"sums_clients"} | {"sums_" + key for key in expected}
        for key, values in expected.items():
            np.testing.assert_array_equal(found["sums_" + key], values.ravel())


def test_no_python_is_taken_from_the_directory_of_the_start(tmp_path, config, client, monkeypatch):
    environment, here = tmp_path / "environment", tmp_path / "here"
    (here / "lib").mkdir(parents=True)
    environment.mkdir()
    (environment / "lib").symlink_to(pathlib.Path(sys.prefix, "lib"))
    (environment / "pyvenv.cfg").write_text("home = bin\n")
    (tmp_path / "evil.c").write_text("#include <stdlib.h>\n__attribute__((constructor)) static void run(void) "
                                     f"{{ exit(system(\"touch '{tmp_path}/loaded'\")); }}\n")
    minor = sys.version_info.minor
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "evil.c", "-o", here / f"lib/libpython3.{minor}.so.1.0"],
                   check=True)
    file = config("on: end_iteration, run: 'python:functions.py:seen'")
    file.write_text(file.read_text() + f"python: {{environment: {environment}}}\n")
    monkeypatch.chdir(here)
    writer = client(file)
    writer.run("step(0)")
    writer.close()
    assert not (tmp_path / "loaded").exists()


def test_a_function_in_a_library(tmp_path, config, client):
    (tmp_path / "track.c").write_text(C_FUNCTION)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", REPOSITORY / "include", "-o", tmp_path / "libtrack.so",
                    tmp_path / "track.c"], check=True)
    writer = client(config('on: end_iteration, run: "library:libtrack.so:total", variables: [height]',
                           'on: storm, run: "library:libtrack.so:fails"'))
    writer.run("step(0)", "step(1, 'storm')", "step(2, 'storm')")
    told = writer.close()
    assert len(told) == 1 and told[0].startswith("an action failed: ") and "the sea is too high" in told[0]
    check_data(tmp_path, range(3))
    for step in range(3):
        total = findings(iteration(tmp_path, step))["total_total"]
        assert total == pytest.approx(data(0, "height", step).sum(), rel=1e-9)


@pytest.mark.parametrize(("function", "why"), [
    ("raises", "ValueError: no storm in the data"),
    ("crashes", "signal 11"),
    ("leaves", "exit status 3"),
    ("hangs", "limit"),
    ("writes", "signal 11"),
    ("is_not_there", "is_not_there"),
])
def test_one_that_fails_is_told_and_disabled_and_the_data_are_stored(tmp_path, config, client, function, why):
    limit = "300 ms" if function == "hangs" else "1 h"
    file = config(f'on: storm, run: "python:functions.py:{function}", limit: {limit}',
                  'on: end_iteration, run: "python:functions.py:sums", variables: [counts]',
                  "on: end_iteration, run: statistics", clients=2)
    writers = [client(file, number) for number in range(2)]
    for step in range(4):
        writers[0].run(f"step({step}, 'storm')")
        writers[1].run(f"step({step})")
    for number, writer in enumerate(writers):
        told = writer.close()
        assert len(told) == 1, told
        assert told[0].startswith("an action failed: ") and why in told[0] and "disabled" in told[0]
        check_data(tmp_path, range(4), number)
        for step in range(4):
            found = findings(iteration(tmp_path, step, number))
            assert found["statistics_height/%d/max" % number] == data(number, "height", step).max()
            np.testing.assert_array_equal(found[f"sums_counts/{step}/{number}"], data(number, "counts", step))


def test_one_that_comes_later_is_told_too(config, client):
    file = config('on: storm, run: "python:functions.py:raises"', clients=2)
    first = client(file, 0)
    first.run("step(0, 'storm')", "tell(out.flush)")
    later = client(file, 1)
    later.run("step(0)")
    for writer in (first, later):
        told = writer.close()
        assert len(told) == 1 and "no storm in the data" in told[0]


def test_scope_node_runs_once_with_the_blocks_of_all(tmp_path, config, client):
    file = config('on: end_iteration, run: "python:functions.py:sums", scope: node, variables: [height]',
                  'on: storm, run: "python:functions.py:sums", scope: node, variables: [counts]', clients=4)
    writers = []
    for number in range(4):  # the others come when some have already ended iterations
        writers.append(client(file, number))
        writers[-1].run("step(0)", "step(1, 'storm')", "tell(out.flush)")
    for number in (2, 0, 3, 1):
        writers[number].run("step(2, 'storm')" if number != 3 else "step(2)")
    for writer in writers:
        writer.begin_close()  # each may have to wait for the others
    assert [writer.close() for writer in writers] == [[]] * 4
    for number in range(4):
        check_data(tmp_path, range(3), number)
        for step in range(3):
            found = findings(iteration(tmp_path, step, number))
            heights = {f"sums0_height/{step}/{source}" for source in range(4)}
            counts = {f"sums1_counts/{step}/{source}" for source in range(4)} if step == 1 else set()
            names = {"sums0_clients"} | ({"sums1_clients"} if step == 1 else set())
            assert set(found) == heights | counts | names
            assert text(found["sums0_clients"]) == "0,1,2,3"
            for source in range(4):
                np.testing.assert_array_equal(found[f"sums0_height/{step}/{source}"],
                                              data(source, "height", step).ravel())


def test_scope_node_goes_on_without_those_who_have_left(tmp_path, config, client):
    file = config('on: end_iteration, run: "python:functions.py:sums", scope: node, variables: [counts]', clients=3)
    writers = [client(file, number) for number in range(3)]
    for writer in writers:
        writer.run("step(0)")
    assert writers[0].close() == []
    writers[1].process.kill()
    writers[1].process.wait()
    writers[2].run("step(1)")
    assert writers[2].close() == []
    assert text(findings(iteration(tmp_path, 0, 0))["sums_clients"]) == "0,1,2"
    assert text(findings(iteration(tmp_path, 1, 2))["sums_clients"]) == "2"


def test_what_not_all_have_raised_is_stored_all_the_same(tmp_path, config, client):
    file = config('on: end_iteration, run: "python:functions.py:sums", scope: node', clients=2)
    alone = client(file, 0)
    alone.run("step(0)", "tell(out.flush)")
    assert alone.close() == []
    # The file is published when the server has seen that no client is left.
    wait_for_no_server()
    check_data(tmp_path, [0])
    assert findings(iteration(tmp_path, 0)) == {}


def wait_for_no_server():
    """Waits until the servers of this test have ended."""
    for job in core_server.jobs():
        for server in job["servers"]:
            if server.get("process"):
                wait_for_end(server["process"])


def wait_for_end(process):
    try:
        end = os.pidfd_open(process)
    except ProcessLookupError:
        return
    select.select([end], [], [])
    os.close(end)


def test_drop(tmp_path, config, client):
    writer = client(config("on: calm, run: drop", "on: end_iteration, run: statistics"))
    writer.run("step(0)", "step(1, 'calm')", "step(2)")
    assert writer.close() == []
    check_data(tmp_path, (0, 2))
    assert sorted(path.name for path in (tmp_path / "out").glob("*.h5*")) == ["sim_c0_000000.h5", "sim_c0_000002.h5"]
    journal = (tmp_path / "out" / "sim_c0.dropped").read_text()
    assert journal == "iteration 1: dropped, action 'drop' on event 'calm'\n"


def test_drop_of_the_node(tmp_path, config, client):
    file = config("on: calm, run: drop, scope: node", clients=2)
    writers = [client(file, number) for number in range(2)]
    writers[0].run("step(0, 'calm')", "step(1, 'calm')")
    writers[1].run("step(0, 'calm')", "step(1)")
    for writer in writers:
        writer.begin_close()
    assert [writer.close() for writer in writers] == [[], []]
    left = sorted(path.name for path in (tmp_path / "out").glob("*.h5*"))
    assert left == ["sim_c0_000001.h5", "sim_c1_000001.h5"]


LARGE = "large: {layout: large}"  # 512 KiB


def test_iterations_that_are_open_at_once_get_their_memory_back(tmp_path, config, client):
    """The blocks of iterations that have not ended are held; more of them than fit must not wait for ever."""
    writer = client(config('on: end_iteration, run: "python:functions.py:sums", variables: [large]', budget="2 MiB",
                           large=LARGE))
    writer.run(*(f"write({step}, 'large')" for step in range(8)))
    writer.run(*(f"tell(out.end_iteration, {step})" for step in range(8)))
    told = writer.close()
    assert told and all("waited for memory" in one for one in told)
    given_up = {int(re.search(r"actions of iteration (\d+)", one)[1]) for one in told}
    for step in range(8):
        group = iteration(tmp_path, step)
        np.testing.assert_array_equal(group["meshes/large"], data(0, "large", step))
        found = findings(group)
        assert (f"sums_large/{step}/0" in found) == (step not in given_up)


def test_a_slow_function_makes_the_program_wait_and_loses_nothing(tmp_path, config, client):
    """Repeatedly one more iteration than fits, while functions run."""
    writer = client(config('on: end_iteration, run: "python:functions.py:sums", variables: [height]',
                           "on: end_iteration, run: statistics", budget="1 MiB", large=LARGE))
    writer.run(*(f"write({step}); write({step}, 'large'); tell(out.end_iteration, {step})" for step in range(12)))
    assert writer.close() == []
    check_data(tmp_path, range(12))
    for step in range(12):
        found = findings(iteration(tmp_path, step))
        np.testing.assert_array_equal(found[f"sums_height/{step}/0"], data(0, "height", step).ravel())
        assert found["statistics_large/0/max"] == data(0, "large", step).max()


def test_after_the_servers_death_the_actions_of_unpublished_iterations_run_again(tmp_path, config, client):
    os.mkfifo(tmp_path / "runs")
    writer = client(config('on: end_iteration, run: "python:functions.py:stops_once", limit: 1 h', keep=1))
    writer.send("step(0)")
    assert (tmp_path / "runs").read_text() == "now"  # when the function runs
    writer.expect("done")
    [server] = [server for job in core_server.jobs() for server in job["servers"]]
    os.kill(server["process"], signal.SIGKILL)
    writer.run("step(1)", "step(2)")
    assert writer.close() == []
    check_data(tmp_path, range(3))
    assert (tmp_path / "ran").read_text().split() == ["0", "0", "1", "2"]
    for step in range(3):
        total = sum(data(0, "height", kept).sum() for kept in range(max(0, step - 1), step + 1))
        assert findings(iteration(tmp_path, step))["stops_once_sum"] == pytest.approx(total, rel=1e-9)
