"""Place core as users meet it: from the package, by the command line, after deaths. Nothing depends on a clock."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from conftest import REPOSITORY, wait_for_locks
from file_gate import FileGate
from tailrace.cli import core_server

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: core{more}}}
memory: {{budget: 4 MiB}}
storage: {{path: {path}}}
layouts:
  plane: {{type: float64, shape: [4, 6]}}
variables:
  temperature: {{layout: plane, unit: K}}
"""

# Opens as client argv[2], reports that, and then writes an iteration for each line that it gets.
CLIENT = """
import sys, numpy, tailrace
client = tailrace.open(sys.argv[1], int(sys.argv[2]))
print("open", flush=True)
for line in sys.stdin:
    step = int(line)
    client.write("temperature", step, numpy.full((4, 6), 100.0 * client.client + step))
    client.end_iteration(step)
    print("handed over", flush=True)
client.close()
"""


pytestmark = pytest.mark.usefixtures("runtime_directory")


@pytest.fixture
def config(tmp_path):
    def write(more=""):
        file = tmp_path / "sim.yaml"
        file.write_text(CONFIG.format(path=tmp_path / "out", more=more))
        return file

    return write


@pytest.fixture
def clients():
    """Starts clients; `tell` makes one write an iteration. Kills those that are alive at the end."""
    started = []

    class Started:
        def __init__(self, config, number, umask=-1, opens=True, environment=None):
            self.process = subprocess.Popen([sys.executable, "-c", CLIENT, config, str(number)], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, umask=umask,
                                            env={**os.environ, **(environment or {})})
            started.append(self)
            if opens:
                self.has_opened()

        def has_opened(self):
            assert self.process.stdout.readline() == "open\n"

        def tell(self, step):
            self.process.stdin.write(f"{step}\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "handed over\n"

        def close(self):
            self.process.stdin.close()
            assert self.process.wait() == 0

        def kill(self):
            self.process.kill()
            self.process.wait()

    yield Started
    for one in started:
        one.kill()
        one.process.stdin.close()
        one.process.stdout.close()


def command(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "tailrace.cli", *map(str, arguments)], text=True,
                            stderr=subprocess.PIPE, **options)


def check_files(out, clients, steps):
    assert sorted(path.name for path in out.glob("*.h5*")) == sorted(
        f"sim_c{client}_{step:06d}.h5" for client in clients for step in steps)
    for client in clients:
        for step in steps:
            with h5py.File(out / f"sim_c{client}_{step:06d}.h5") as file:
                assert (file[f"data/{step}/meshes/temperature"][...] == 100.0 * client + step).all()


def kill_and_wait(pid):
    """Kills a process that is not a child of this one, and waits for its end."""
    handle = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    select.select([handle], [], [])
    os.close(handle)


def test_of_clients_that_come_together_one_more_than_expected_is_refused(config, clients, tmp_path):
    """The second of two has yet to lock its name when the third comes. The last one to be ready is one too many."""
    gate = FileGate(tmp_path, "_c1.lock")
    file = config(", clients: 2")
    file.write_text(file.read_text().replace("storage: {", "storage: {file_per: node, "))
    first = clients(file, 0, environment=gate.environment)
    late = clients(file, 1, opens=False)
    gate.wait()
    third = clients(file, 2)
    gate.let_go()
    assert late.process.wait() == 1
    for one in (first, third):
        one.tell(0)
    first.process.stdin.close()
    third.close()
    assert first.process.wait() == 0
    assert (tmp_path / "out/sim_n0_000000.h5").exists()


def test_a_client_whose_directory_hangs_holds_up_nobody_else(config, clients, tmp_path):
    """The file system does not lock client 1's name for now. Client 0 writes and ends meanwhile."""
    gate = FileGate(tmp_path, "_c1.lock")
    file = config()
    first = clients(file, 0, environment=gate.environment)  # starts the server
    held = clients(file, 1, opens=False)
    gate.wait()
    first.tell(0)
    first.close()
    check_files(tmp_path / "out", [0], [0])
    gate.let_go()
    held.has_opened()
    held.tell(0)
    held.close()
    check_files(tmp_path / "out", [0, 1], [0])
    wait_for_locks(tmp_path / "out")
    assert not list((tmp_path / "out").glob(".*.lock"))


def test_the_package_has_the_program():
    program = pathlib.Path(tailrace.__file__).parent / "tailrace-core"
    assert program.is_file() and os.access(program, os.X_OK)
    assert core_server.find() == os.environ.get("TAILRACE_SERVER", str(program))


def test_a_named_program_is_the_only_one(monkeypatch, run):
    monkeypatch.setenv("TAILRACE_SERVER", "/nowhere/tailrace-core")
    code, _, message = run("serve", "--list")
    assert code == 1 and "/nowhere/tailrace-core" in message
    monkeypatch.undo()


def test_the_example(tmp_path):
    shutil.copy(REPOSITORY / "examples/core/sim.yaml", tmp_path)
    subprocess.run([sys.executable, REPOSITORY / "examples/core/clients.py"], cwd=tmp_path, check=True)
    subprocess.run([sys.executable, REPOSITORY / "examples/check.py", tmp_path, "4"], check=True)


def test_what_is_listed(run, config, clients, tmp_path):
    assert run("serve", "--list") == (0, "no jobs of place core on this node\n", "")
    file = config()
    writers = [clients(file, number) for number in range(2)]
    writers[1].tell(0)
    code, text, _ = run("serve", "--list")
    assert code == 0 and "1 alive" in text and "2 alive" in text and str(tmp_path / "out") in text
    (job,) = json.loads(run("serve", "--list", "--json")[1])
    assert job["alive"] and job["output"] == [str(tmp_path / "out")] and job["shared_bytes"] > 2 * (4 << 20)
    assert [one["client"] for one in job["clients"]] == [0, 1]
    assert [one["process"] for one in job["clients"]] == [one.process.pid for one in writers]
    (server,) = job["servers"]
    assert server["alive"] and os.path.exists(f"/proc/{server['process']}")
    for one in writers:
        one.close()
    wait_until_gone()


def wait_until_gone():
    """The server ends by itself after its last client; its directory vanishes with it."""
    while core_server.jobs():
        pass


def test_inspect_shows_a_living_job(run, config, clients, tmp_path):
    writer = clients(config(), 3)
    code, text, _ = run("inspect", tmp_path / "out")
    assert code == 0 and "running" in text and str(writer.process.pid) in text and "blocks waiting" in text
    (found,) = json.loads(run("inspect", tmp_path / "out", "--json")[1])
    assert found["jobs"][0]["clients"][0]["client"] == 3
    writer.close()
    wait_until_gone()


def test_inspect_shows_what_merging_makes_of_a_raw_file(run, config, tmp_path):
    file = config()
    with tailrace.open(file, 0) as one, tailrace.open(file, 1) as other:
        halves = [one.open_file("rows.raw"), other.open_file("rows.raw")]
        for row in range(20):
            halves[row % 2].write(bytes(100), 100 * row)
        for half in halves:
            half.sync()
        code, text, _ = run("inspect", tmp_path / "out")
        (line,) = [line.split() for line in text.splitlines() if line.startswith("rows.raw")]
        # The calls of both; the server's requests once.
        assert code == 0 and line[1] == "20" and ["20", "of", "100", "B"] == line[7:11]
        (found,) = json.loads(run("inspect", tmp_path / "out", "--json")[1])
        for client in found["jobs"][0]["clients"]:
            (of,) = client["files"]
            assert of["path"] == "rows.raw" and of["writes"] == 10 and of["after"]["bytes"] <= 2000
        assert other.file_stats("rows.raw").before.count == 20
    wait_until_gone()


def test_a_server_in_the_foreground(config, tmp_path):
    file = config()
    server = command("serve", "core", "--config", file, "--wait", "100")
    while not [job for job in core_server.jobs() if any("process" in one for one in job["servers"])]:
        assert server.poll() is None
    with tailrace.open(file) as client:
        assert f"server process {server.pid}," in client.describe()
        client.write("temperature", 7, np.full((4, 6), 7.0))
        client.end_iteration(7)
    assert server.wait() == 0
    server.stderr.close()
    check_files(tmp_path / "out", [0], [7])


def test_a_server_that_nobody_comes_to(config):
    server = command("serve", "core", "--config", config(), "--wait", "0.001")
    assert server.communicate()[1] == "" and server.returncode == 0


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (["serve"], 2, "serve: what?"),
    (["serve", "core"], 2, "serve: what?"),
    (["serve", "core", "--config", "FILE", "--server", "1"], 1, "found 1, expected less than 1 (place.cores in"),
    (["serve", "core", "--config", "/nowhere/sim.yaml"], 1, "/nowhere/sim.yaml"),
    (["serve", "core", "--config", "FILE", "--parameter", "nx"], 2, "--parameter"),
])
def test_what_cannot_be_served(config, arguments, code, message):
    file = str(config())
    server = command(*[file if one == "FILE" else one for one in arguments])
    assert message in server.communicate()[1] and server.returncode == code


def test_place_thread_has_no_server(config):
    file = config()
    file.write_text(file.read_text().replace("kind: core", "kind: thread"))
    server = command("serve", "core", "--config", file)
    assert "place.kind: found thread, expected core" in server.communicate()[1] and server.returncode == 1


@pytest.mark.parametrize("cores", [1, 2])
def test_recover_writes_what_a_dead_job_left(run, config, clients, tmp_path, cores):
    out = tmp_path / "out"
    writers = [clients(config(f", cores: {cores}"), number) for number in range(3)]
    for one in writers:
        one.tell(0)
    (job,) = core_server.jobs_of(out)
    servers = [one["process"] for one in job["servers"]]
    assert len(servers) == cores
    for server in servers:
        os.kill(server, signal.SIGSTOP)
    for one in writers:
        one.tell(1)  # into shared memory alone
    assert run("recover", out)[0] in (0, 1)  # recovery touches nothing of a live job
    assert {one["alive"] for one in core_server.jobs_of(out)[0]["clients"]} == {True}
    for one in writers:
        one.kill()
    for server in servers:
        kill_and_wait(server)
    code, text, _ = run("recover", out, "--dry-run")
    assert code == 1 and "to be written, and freed" in text
    code, text, _ = run("recover", out, "--json")
    assert code == 0 and json.loads(text)[0]["kind"] == "shared memory" and json.loads(text)[0]["done"]
    check_files(out, range(3), [0, 1])
    assert run("recover", out) == (0, f"{out}: nothing to recover\n", "")


@pytest.mark.parametrize("segment", [False, True])
def test_recover_finds_a_server_that_died_before_a_client_came(run, config, tmp_path, runtime_directory, segment):
    """Nobody had told where the job writes, so that its files stayed in shared memory."""
    out = tmp_path / "out"
    out.mkdir()
    server = command("serve", "core", "--config", config(), "--wait", 60, "--log", "info")
    while not list(runtime_directory.glob("*/server_0.sock")):
        pass
    assert run("recover", out) == (0, f"{out}: nothing to recover\n", "")  # the server lives
    for process in [one["process"] for one in core_server.jobs()[0]["servers"]]:
        kill_and_wait(process)
    server.communicate()
    (job,) = runtime_directory.iterdir()
    if segment:  # it was making a client's segment
        (job / "server_0.segment").touch(mode=0o600)
    (tmp_path / "other").mkdir()
    assert run("recover", tmp_path / "other")[0] == 0
    assert job.exists()
    (tmp_path / "link").symlink_to(out)
    code, text, _ = run("recover", tmp_path / "link", "--dry-run")
    assert code == 1 and "to be written, and freed" in text
    code, text, _ = run("recover", tmp_path / "link", "--json")
    assert code == 0 and json.loads(text)[0]["done"]
    assert not job.exists()
    assert run("recover", out) == (0, f"{out}: nothing to recover\n", "")


NODE = """\
tailrace: 1
name: node{node}
place: {{kind: core, clients: 1, node: {node}, nodes: 2, cpus: none}}
memory: {{budget: 4 MiB}}
storage: {{path: {path}, file_per: job, existing: continue}}
format: {{kind: plain, file: "sim_{{iteration}}.h5"}}
parameters: {{first: {first}}}
layouts:
  plane: {{type: float64, shape: [4, 6], global: [8, 6], offset: [first, 0]}}
variables:
  temperature: {{layout: plane}}
"""


@pytest.mark.parametrize("stopped", [0, 1])
def test_the_next_run_keeps_what_one_of_two_nodes_had_in_memory(tmp_path, clients, stopped):
    """Confirmed iterations were lost: the first node that opened removed its own part of them."""
    out = tmp_path / "out"
    configs = [tmp_path / f"node{node}.yaml" for node in (0, 1)]
    for node, file in enumerate(configs):
        file.write_text(NODE.format(node=node, first=4 * node, path=out))
    writers = [clients(file, node) for node, file in enumerate(configs)]
    servers = {job["job"].split("-")[0]: job["servers"][0]["process"] for job in core_server.jobs()}
    os.kill(servers[f"node{stopped}"], signal.SIGSTOP)
    for writer in writers:
        writer.tell(0)
        writer.tell(1)
    parts = [out / f"sim_{step}.h5.part.n{1 - stopped}" for step in (0, 1)]
    while not all(part.exists() for part in parts):
        pass  # the other node's server writes its part
    for writer in writers:
        writer.kill()
    for server in servers.values():
        kill_and_wait(server)
    writers = [clients(file, node) for node, file in enumerate(configs)]
    for writer in writers:
        writer.tell(2)
    for writer in writers:
        writer.close()
    while core_server.jobs():
        pass  # the last server completes the last file
    assert sorted(path.name for path in out.iterdir() if not path.name.endswith(".log")) == [
        f"sim_{step}.h5" for step in range(3)]
    for step in range(3):
        with h5py.File(out / f"sim_{step}.h5") as file:
            assert (file["temperature"][...] == np.repeat([step, 100 + step], 4)[:, None]).all()


def test_another_server_goes_on(config, clients, tmp_path):
    writer = clients(config(), 0)
    writer.tell(0)
    (job,) = core_server.jobs()
    kill_and_wait(job["servers"][0]["process"])
    writer.tell(1)
    writer.close()
    check_files(tmp_path / "out", [0], [0, 1])
    wait_until_gone()


def wait_for_server(process):
    """Waits until a process sleeps with a connection, as its server is stopped and does not answer."""
    directory = pathlib.Path(f"/proc/{process.pid}")

    def has_connection():
        try:
            return any(os.readlink(entry).startswith("socket:") for entry in (directory / "fd").iterdir())
        except FileNotFoundError:  # closed meanwhile
            return False

    while not has_connection() or ") S " not in (directory / "stat").read_text():
        assert process.poll() is None
        os.sched_yield()


def modes(directory):
    return {file.name: f"{file.stat().st_mode & 0o777:o}" for file in directory.glob("*.h5")}


@pytest.mark.parametrize("number", [0, 1])
def test_a_run_that_follows_at_once_has_its_own_umask(config, clients, tmp_path, number):
    """It met the server of the earlier run, which was about to end, and its files had that run's umask."""
    file = config()
    file.write_text(file.read_text().replace("storage: {", "storage: {existing: continue, "))
    first = clients(file, 0, umask=0o027)
    first.tell(0)
    (job,) = core_server.jobs()
    server = job["servers"][0]["process"]
    os.kill(server, signal.SIGSTOP)
    first.kill()
    second = clients(file, number, umask=0o077, opens=False)
    wait_for_server(second.process)
    os.kill(server, signal.SIGCONT)
    second.has_opened()
    second.tell(1)
    second.close()
    assert modes(tmp_path / "out") == {"sim_c0_000000.h5": "640", f"sim_c{number}_000001.h5": "600"}
    wait_until_gone()


def test_recovered_files_have_the_umask_of_their_program(run, config, clients, tmp_path):
    writer = clients(config(), 0, umask=0o027)
    (job,) = core_server.jobs()
    server = job["servers"][0]["process"]
    os.kill(server, signal.SIGSTOP)
    writer.tell(0)
    writer.kill()
    kill_and_wait(server)
    before = os.umask(0o077)
    try:
        assert run("recover", tmp_path / "out")[0] == 0
    finally:
        os.umask(before)
    assert modes(tmp_path / "out") == {"sim_c0_000000.h5": "640"}


def test_clients_of_one_server_have_one_umask(config, clients, tmp_path):
    first = clients(config(), 0, umask=0o027)
    refused = subprocess.run([sys.executable, "-c", CLIENT, config(), "1"], capture_output=True, text=True,
                             umask=0o077, check=False)
    assert "found umask '0077', expected '0027'" in refused.stderr
    first.tell(0)
    first.close()
    assert modes(tmp_path / "out") == {"sim_c0_000000.h5": "640"}


def test_clients_of_one_server_may_name_its_directory_in_different_ways(config, clients, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    writers = []
    for number, path in enumerate(["out", "out/../out", "link", "link/../out/"]):
        file = tmp_path / f"sim{number}.yaml"
        file.write_text(CONFIG.format(path=tmp_path / path, more=""))
        writers.append(clients(file, number))
    (job,) = core_server.jobs()
    assert len(job["clients"]) == 4
    for writer in writers:
        writer.tell(0)
    for writer in writers:
        writer.close()
    check_files(tmp_path / "out", range(4), [0])


def test_what_clients_of_one_server_have_in_common(config, clients, tmp_path):
    log = tmp_path / "log"
    first = clients(config(f", cpus: none}}\nlog: {{file: {log}"), 0)
    refused = subprocess.run([sys.executable, "-c", CLIENT, config(", cpus: none, clients: 3"), "1"],
                             capture_output=True, text=True, check=False)
    assert "found place.clients '3', expected 'not set'" in refused.stderr
    second = clients(config(", cpus: none, filter_threads: 3"), 1)
    for writer in (first, second):
        writer.tell(0)
        writer.close()
    while core_server.jobs():
        pass  # the server ends
    assert ("a client has place.filter_threads '3': in its server, that of the first client counts, '1'"
            in log.read_text())
    check_files(tmp_path / "out", range(2), [0])


LOSER = """
import sys, tailrace
client = tailrace.open(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
try:
    client.flush()
except tailrace.Error as error:
    print(error.code == tailrace.Status.SERVER_LOST == 304)
try:
    client.close()
except tailrace.Error as error:
    print(error.status)
"""


def test_a_lost_server_has_a_status_of_its_own(run, config, tmp_path):
    # In a separate process: a job lives as long as the processes of its clients.
    loser = subprocess.Popen([sys.executable, "-c", LOSER, config(", on_server_loss: fail")], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert loser.stdout.readline() == "open\n"
    (job,) = core_server.jobs()
    kill_and_wait(job["servers"][0]["process"])
    assert loser.communicate("go on\n")[0].splitlines() == ["True", "the node's server is lost"]
    assert run("recover", tmp_path / "out")[0] == 0
