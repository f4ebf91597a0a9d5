"""Runs: clients that never come or are one too many, jobs that run again, and what an earlier run left.

No file of another run or of another set of clients replaces a published one, and no confirmed data are lost in
silence. Clients are separate processes, as in jobs; the files are compared with NumPy arrays that the tests compute.
"""

import json
import os
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from conftest import own_node
from tailrace import cli
from tailrace.cli import core_server


CONFIG = """\
tailrace: 1
name: mini
place: {{kind: {kind}, clients: clients, cpus: none, patience: {patience}, on_missing: {on_missing}}}
memory: {{budget: 4 MiB}}
storage: {{path: {path}, file_per: {file_per}, existing: {existing}}}
log: {{level: "off"}}
parameters: {{clients: 2, total: 8, first: 0}}
layouts:
  slab: {{type: float64, shape: [4, 1000], global: [total, 1000], offset: [first, 0]}}
variables:
  u: {{layout: slab}}
"""
LONG = 600  # seconds of patience that no test waits for
SHORT = 0.3

# Obeys lines: "write ITERATION", "end ITERATION", "flush", "close"; answers each with the failures of that call.
# Opens first of all; with a fifth argument, when it is told to "open".
CLIENT = """\
import json, sys
import numpy as np, tailrace
file, client, clients, shift = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
def say(call):
    try:
        call()
        print("[]", flush=True)
    except tailrace.Error as error:
        print(json.dumps([error.status, str(error)]), flush=True)
def begin():
    global out
    total = 4 * max(clients, client + 1)
    out = tailrace.open(file, client, parameters={"clients": clients, "total": total, "first": 4 * client})
if not sys.argv[5:]:
    say(begin)
for line in sys.stdin:
    verb, *step = line.split()
    step = int(step[0]) if step else 0
    slab = shift + 1e6 * step + 4000 * client + np.arange(4000.0).reshape(4, 1000)
    say({"write": lambda: out.write("u", step, slab), "end": lambda: out.end_iteration(step),
         "flush": lambda: out.flush(), "close": lambda: out.close(), "open": begin, "ready": lambda: None}[verb])
"""


class Process:
    """A client in a process of its own."""

    def __init__(self, file, client, clients=2, shift=0.0, waits=False, environment=None):
        arguments = [*map(str, (file, client, clients, shift)), *(["waits"] if waits else [])]
        self.child = subprocess.Popen([sys.executable, "-c", CLIENT, *arguments], text=True, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, env={**os.environ, **(environment or {})})

    def opened(self):
        """Returns the result of the open: [] or the failure."""
        return json.loads(self.child.stdout.readline())

    def tell(self, *lines):
        for line in lines:
            self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def ask(self, *lines):
        """Makes it execute these lines; returns all failures."""
        self.tell(*lines)
        return self.answers(len(lines))

    def answers(self, count):
        return [answer for answer in (json.loads(self.child.stdout.readline()) for _ in range(count)) if answer]

    def kill(self):
        self.child.kill()
        self.wait()

    def wait(self):
        self.child.stdin.close()
        self.child.wait()
        self.child.stdout.close()


STEPS = ("write 0", "end 0", "write 1", "end 1", "write 2", "end 2")


def slabs(shift, step, clients):
    return shift + 1e6 * step + np.arange(4000.0 * clients).reshape(4 * clients, 1000)


def names(out):
    """Returns the files, without logs."""
    return sorted(path.name for path in out.iterdir() if path.suffix != ".log")


def read(out, step):
    """Returns the whole array of an iteration, and the clients that its file lists as missing."""
    with h5py.File(out / f"mini_{step:06d}.h5") as file:
        group = file[f"data/{step}"]
        return group["meshes/u"][:], list(group.attrs.get("tailraceMissingClients", []))


def kill_servers():
    """Kills every server of this runtime directory with kill -9; returns when they have gone."""
    for job in core_server.jobs():
        for server in job["servers"]:
            if "process" not in server:
                continue
            os.kill(server["process"], signal.SIGKILL)
    while any(server["alive"] for job in core_server.jobs() for server in job["servers"]):
        pass


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def config(tmp_path, out):
    def write(kind="core", patience=LONG, on_missing="publish", file_per="job", existing="refuse"):
        file = tmp_path / "mini.yaml"
        file.write_text(CONFIG.format(path=out, kind=kind, patience=patience, on_missing=on_missing,
                                      file_per=file_per, existing=existing))
        return file

    return write


def test_a_client_more_than_place_clients_is_refused_by_name(config, out):
    file = config()
    with own_node():
        first, second = Process(file, 0), Process(file, 1)
        assert first.opened() == [] and second.opened() == []
        third = Process(file, 2)
        status, message = third.opened()
        assert status == "invalid configuration"
        assert "client 2 is one more than place.clients says" in message and "found clients 0, 1 and 2" in message
        third.wait()
        for client in (first, second):
            assert client.ask(*STEPS, "close") == []
            client.wait()
    for step in range(3):
        found, missing = read(out, step)
        assert np.array_equal(found, slabs(0, step, 2)) and missing == []


def test_a_client_that_never_comes_is_named_by_close_and_in_the_file(config, out):
    file = config(patience=SHORT)
    with own_node():  # waits for the end of the server
        first = Process(file, 0)
        assert first.opened() == []
        assert first.ask("write 0", "end 0", "flush") == []
        ((status, message),) = first.ask("close")
        assert status == "clients are missing" and "client 1 has not come" in message and "place.patience" in message
        first.wait()
    found, missing = read(out, 0)
    assert np.array_equal(found[:4], slabs(0, 0, 2)[:4]) and missing == [1]
    assert names(out) == ["mini_000000.h5"]


def test_who_runs_on_is_told_by_the_next_call(config, out):
    file = config(patience=SHORT)
    with own_node():
        first = Process(file, 0)
        assert first.opened() == []
        assert first.ask("write 0", "end 0") == []
        while not (out / "mini_000000.h5").exists():
            pass
        ((status, _message),) = first.ask("flush")
        assert status == "clients are missing"
        assert first.ask("write 1", "end 1", "close") == []
        first.wait()
    assert read(out, 1)[1] == [1]


def test_a_client_that_comes_too_late_is_refused(config, out):
    file = config(patience=SHORT)
    with own_node():
        first, late = Process(file, 0), None
        assert first.opened() == []
        # It begins with the others, and opens when they have given it up.
        hold = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.readline();" + "exec(sys.argv.pop(1))",
                                 CLIENT, str(file), "1", "2", "0"], text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        assert first.ask("write 0", "end 0") == []
        while not (out / "mini_000000.h5").exists():
            pass
        late, hold.stdin = hold, hold.stdin
        late.stdin.write("\n")
        late.stdin.flush()
        status, message = json.loads(late.stdout.readline())
        assert status == "clients are missing" and "client 1 has come too late" in message
        late.stdin.close()
        late.wait()
        late.stdout.close()
        assert [status for status, _ in first.ask("close")] == ["clients are missing"]
        first.wait()


@pytest.mark.parametrize("existing", ["refuse", "replace", "continue"])
def test_a_client_that_comes_after_the_server_has_given_it_up_and_ended_replaces_nothing(config, out, existing):
    """A client of the next run does come, and its run is whole."""
    file = config(patience=SHORT, existing=existing)
    with own_node():
        late = Process(file, 1, shift=100.0, waits=True)  # its process begins with the run
        assert late.ask("ready") == []
        first = Process(file, 0)
        assert first.opened() == []
        assert [status for status, _ in first.ask("write 0", "end 0", "close")] == ["clients are missing"]
        first.wait()
        while core_server.jobs():
            pass
        for _ in range(2):
            ((status, message),) = late.ask("open")
            assert status == "clients are missing" and "client 1 has come too late" in message
        found, missing = read(out, 0)
        assert np.array_equal(found[:4], slabs(0, 0, 2)[:4]) and missing == [1]
        if existing == "refuse":
            late.wait()
            return
        both = [Process(file, client, shift=500.0) for client in (1, 0)]
        assert [process.opened() for process in both] == [[], []]
        for process in both:
            process.tell("write 0", "end 0", "close")
        for process in both:
            assert process.answers(3) == []
            process.wait()
        late.wait()
    found, missing = read(out, 0)
    assert np.array_equal(found, slabs(500, 0, 2)) and missing == []


def test_a_run_whose_server_has_died_goes_on_with_a_client_that_comes_late(config, out):
    """All that had come had left, and nothing of theirs waited: the next server knows of them by the ledger alone."""
    file = config(patience=20)
    with own_node():
        late = Process(file, 1, waits=True)
        assert late.ask("ready") == []
        first = Process(file, 0)
        assert first.opened() == [] and first.ask("close") == []
        first.wait()
        kill_servers()
        ((status, message),) = late.ask("open", "write 0", "end 0", "close")
        assert status == "clients are missing" and "without client 0, which has gone before" in message
        late.wait()
    found, missing = read(out, 0)
    assert np.array_equal(found[4:], slabs(0, 0, 2)[4:]) and missing == [0]


def test_on_missing_keep_leaves_a_whole_file_that_recover_publishes(config, out, capfd):
    file = config(patience=SHORT, on_missing="keep")
    with own_node():
        first = Process(file, 0)
        assert first.opened() == []
        failures = first.ask("write 0", "end 0", "close")
        assert [status for status, _ in failures] == ["clients are missing"]
        first.wait()
    assert names(out) == ["mini_000000.h5.part"]
    assert cli.main(["recover", str(out)]) == 0
    assert "published" in capfd.readouterr().out
    found, missing = read(out, 0)
    assert np.array_equal(found[:4], slabs(0, 0, 2)[:4]) and missing == [1]


def test_a_run_of_one_client_and_then_of_all_do_not_mix(config, out):
    """The client that never came in the first run comes in the second, before or after the other."""
    for order in ((0, 1), (1, 0)):
        file = config(existing="replace")
        with own_node():
            alone = Process(file, 0, shift=100.0)
            assert alone.opened() == []
            assert alone.ask(*STEPS) == []
            alone.kill()
            both = []
            for client in order:
                both.append(Process(file, client, shift=500.0))
                assert both[-1].opened() == []
            for process in both:
                process.tell(*STEPS, "close")
            for process in both:
                assert process.answers(7) == []
                process.wait()
        for step in range(3):
            found, missing = read(out, step)
            assert np.array_equal(found, slabs(500, step, 2)) and missing == []


@pytest.mark.parametrize("ended", [1, 3])
def test_a_job_killed_with_its_server_and_run_again_does_not_mix(config, out, ended):
    """Data that the first run reported as written are published before the second begins, and are replaced as a
    whole."""
    file = config(existing="replace")
    with own_node():
        first = [Process(file, client, shift=100.0) for client in range(2)]
        for process in first:
            assert process.opened() == []
        assert first[0].ask(*STEPS) == [] and first[1].ask(*STEPS[:2 * ended]) == []
        kill_servers()
        for process in first:
            process.kill()
        again = []
        for client in (1, 0):
            again.append(Process(file, client, shift=500.0))
            assert again[-1].opened() == []
        for process in again:
            assert process.ask("write 0", "end 0", "close") == []
            process.wait()
    found, missing = read(out, 0)
    assert np.array_equal(found, slabs(500, 0, 2)) and missing == []
    assert names(out) == ["mini_000000.h5"]


def test_a_run_waits_for_no_living_client_of_another(config, out):
    file = config()
    with own_node():
        first = [Process(file, client) for client in range(2)]
        for process in first:
            assert process.opened() == []
        first[0].kill()
        second = Process(file, 0, shift=500.0)
        status, message = second.opened()
        assert status == "client in use" and "a run that began before it" in message
        second.wait()
        ((status, message),) = first[1].ask("write 0", "end 0", "close")
        assert status == "clients are missing" and "without client 0, which has gone before" in message
        first[1].wait()
    assert read(out, 0)[1] == [0]


@pytest.mark.parametrize(("kind", "file_per"), [("thread", "process"), ("core", "process"), ("core", "job")])
def test_files_of_an_earlier_run_are_refused_replaced_or_continued(config, out, kind, file_per, capfd):
    series = "mini" if file_per == "job" else "mini_c0"

    def run_once(existing, shift, steps):
        process = Process(config(kind=kind, file_per=file_per, existing=existing), 0, clients=1, shift=shift)
        if opened := process.opened():
            process.wait()
            return opened
        failures = process.ask(*(f"{verb} {step}" for step in steps for verb in ("write", "end")), "close")
        process.wait()
        return failures

    def first_values():
        return {path.name: h5py.File(path)[f"data/{int(path.stem[-6:])}/meshes/u"][0, 0]
                for path in sorted(out.glob("*.h5"))}

    def name(step):
        return f"{series}_{step:06d}.h5"

    with own_node():
        assert run_once("refuse", 1.0, range(4)) == []
        status, message = run_once("refuse", 2.0, range(2))
        assert status == "files of an earlier run exist"
        assert name(0) in message and "4 files" in message and "storage.existing" in message
        assert first_values() == {name(step): 1 + 1e6 * step for step in range(4)}
        assert run_once("continue", 3.0, (3, 4)) == []
        assert first_values() == {**{name(step): 1 + 1e6 * step for step in range(3)},
                                  **{name(step): 3 + 1e6 * step for step in (3, 4)}}
        capfd.readouterr()
        assert cli.main(["inspect", str(out)]) == 0
        assert "2 runs" in capfd.readouterr().out
        assert run_once("replace", 4.0, (0, 1)) == []
        assert first_values() == {name(step): 4 + 1e6 * step for step in range(2)}
        assert cli.main(["inspect", str(out)]) == 0
        assert "runs" not in "".join(capfd.readouterr())


def test_recover_after_the_servers_death_publishes_what_came_and_removes_nothing(config, out, capfd):
    file = config(file_per="node")
    with own_node():
        first = Process(file, 0)
        assert first.opened() == []
        assert first.ask("write 0", "end 0", "flush") == []
        kill_servers()
        first.kill()
        assert [path.name for path in out.glob("*.part")] == ["mini_n0_000000.h5.part"]
        # Without the server's program nothing can be drained, so nothing is removed either.
        tailrace.recover(str(out), apply=True)
        assert [path.name for path in out.glob("*.part")] == ["mini_n0_000000.h5.part"]
        assert cli.main(["recover", str(out)]) == 0
        capfd.readouterr()
    with h5py.File(out / "mini_n0_000000.h5") as published:
        assert list(published["data/0"].attrs["tailraceMissingClients"]) == [1]


def test_serve_list_tells_closed_clients_from_dead_ones(config, out, capfd):
    file = config()
    with own_node():
        first, second = Process(file, 0), Process(file, 1)
        assert first.opened() == [] and second.opened() == []
        assert first.ask("write 0", "end 0", "close") == []
        first.wait()
        assert cli.main(["serve", "--list"]) == 0
        assert "1 alive, 1 closed" in capfd.readouterr().out
        assert second.ask("write 0", "end 0", "close") == []
        second.wait()


def test_a_closed_client_that_comes_again_cannot_change_what_is_published(config, out):
    file = config()
    with own_node():
        first, second = Process(file, 0), Process(file, 1)
        assert first.opened() == [] and second.opened() == []
        for process in (first, second):
            assert process.ask("write 0", "end 0") == []
        while not (out / "mini_000000.h5").exists():
            pass
        with pytest.raises(tailrace.Error):  # this process began earlier, and has the number of a present client
            tailrace.open(file, 0, parameters={"clients": 2, "total": 8, "first": 0})
        assert first.ask("close") == [] and second.ask("close") == []
        first.wait()
        second.wait()
    assert np.array_equal(read(out, 0)[0], slabs(0, 0, 2))


