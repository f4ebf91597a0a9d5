"""MPI-IO of unchanged programs on several nodes, which are namespaces of this machine (tests/namespaces.py)."""

import contextlib
import fnmatch
import json
import pathlib
import random
import subprocess
import sys

import pytest
from namespaces import Nodes, Unavailable
from tailrace.cli import forwarder as forwarders
from test_mpiio import library, program, start
from test_mpiio_faults import AGGREGATORS, RANKS, ROUND, Job, check_file, wait_until
from test_mpiio_faults import program as endless

SECONDS = 120  # for the end of a job whose node has died
# What stays in a node's /dev/shm: the table of bytes on their way, and the runtime directory, empty.
TABLE = "tailrace-0.pending-*"
STAYS = (TABLE, "tailrace-0")


@pytest.fixture
def nodes(tmp_path, mpi):
    """Three nodes."""
    if not all(file(mpi).is_file() for file in (program, endless, library)):
        pytest.skip(f"the programs for {mpi.name} are not built")
    directory = tmp_path / "nodes"
    directory.mkdir()
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(Nodes(3, directory))
        except Unavailable as why:
            pytest.skip(f"no namespaces can be made here: {why}")
        yield made


def has_table(nodes, number):
    return any(fnmatch.fnmatch(name, TABLE) for name in nodes.shared_memory(number))


def left(nodes, *numbers):
    """Returns what should not stay on nodes: of tailrace in /dev/shm, and of all processes."""
    names = [name for number in numbers for name in nodes.shared_memory(number) if name.startswith("tailrace")]
    return ([name for name in names if not any(fnmatch.fnmatch(name, one) for one in STAYS)] +
            [line for number in numbers for line in nodes.processes(number)])


# ---- random programs, with two ranks on each of two nodes -----------------------------------------------------


def run_random_program(mpi, path, seed, settings=None, more=()):
    """Returns what it prints, and its files."""
    done = start(mpi, 4, [program(mpi), path, seed, *more], settings)
    assert done.returncode == 0, done.stderr
    assert "writes its data itself" not in done.stderr, done.stderr
    return done.stdout, *(pathlib.Path(f"{path}{end}").read_bytes() for end in ("", ".other"))


@pytest.fixture(scope="module")
def plain_runs():
    """By MPI: a seed, and what it gives without the library."""
    return {}


@pytest.fixture
def check_random_program(tmp_path, mpi, nodes, plain_runs):
    """Runs it with settings: what it reads, and its files, are as without the library."""
    if mpi.name not in plain_runs:
        seed = random.randrange(1 << 30) & ~1  # without hints
        plain_runs[mpi.name] = seed, run_random_program(nodes.over(mpi, [0, 1]), tmp_path / "plain", seed)
    seed, plain = plain_runs[mpi.name]
    print("seed", seed)

    def check(settings, in_turn, more=()):
        carried = run_random_program(nodes.over(mpi, [0, 1], in_turn), tmp_path / "carried", seed, settings, more)
        assert carried[0] == plain[0] and "read " in carried[0]
        assert carried[1:] == plain[1:]

    return check


@pytest.mark.parametrize(("settings", "in_turn", "more"), [
    ("", False, ()), ("", True, ("threads",)), ("collective=two_phase", True, ()),
    ("collective=dynamic aggregators=3", False, ()), ("place=core", True, ())],
    ids=["auto", "auto in turn with threads", "two_phase in turn", "dynamic", "core in turn"])
def test_random_programs_write_equal_files(nodes, check_random_program, settings, in_turn, more):
    check_random_program(settings, in_turn, more)
    assert has_table(nodes, 0) and has_table(nodes, 1) and not has_table(nodes, 2)
    wait_until(lambda: not left(nodes, 0, 1), lambda: left(nodes, 0, 1))


@pytest.mark.parametrize("place", ["thread", "core"])
def test_messages_between_nodes_give_an_order(tmp_path, mpi, nodes, place):
    """What one rank has written another one reads after a message, without a sync."""
    seed = random.randrange(1 << 30)
    print("seed", seed)
    done = start(nodes.over(mpi, [0, 1]), 3, [program(mpi, "order_io"), tmp_path / "file", seed], f"place={place}")
    assert done.returncode == 0 and "writes its data itself" not in done.stderr, done.stderr


@pytest.fixture
def forwarder(tmp_path, nodes):
    """A forwarder on the last node. Returns its address."""
    try:
        forwarders.find()
    except forwarders.Missing as missing:
        pytest.skip(str(missing))
    key = tmp_path / "key"
    subprocess.run([sys.executable, "-m", "tailrace.cli", "key", "new", key], check=True)
    config = tmp_path / "io.yaml"
    config.write_text(json.dumps({
        "tailrace": 1, "name": "io", "memory": {"budget": "64 MiB"},
        "forward": {"listen": f"{nodes.address(2)}:0", "roots": [str(tmp_path)], "key": str(key), "number": 0}}))
    messages = tmp_path / "io.log"
    with messages.open("w") as log:
        serve = subprocess.Popen([*nodes.inside(2), sys.executable, "-m", "tailrace.cli", "serve", "forward",
                                  "--config", config], stdout=subprocess.PIPE, stderr=log, text=True)
    line = serve.stdout.readline()
    assert line.startswith("listening on "), line + messages.read_text()
    yield line.split()[-1]
    nodes.kill(2)
    serve.communicate()


@pytest.mark.parametrize("place", ["thread", "core"])
def test_two_nodes_hand_over_to_a_forwarder_on_a_third_one(tmp_path, monkeypatch, nodes, forwarder,
                                                           check_random_program, place):
    monkeypatch.chdir(tmp_path)  # the clients' locks are there
    check_random_program(f"place={place} forward={forwarder} key={tmp_path / 'key'}", in_turn=True)
    told = subprocess.run([*nodes.inside(0), sys.executable, "-m", "tailrace.cli", "inspect", "--forward", forwarder,
                           "--key", tmp_path / "key", "--json"], stdout=subprocess.PIPE, text=True, check=True)
    assert json.loads(told.stdout)["bytes_written"] > 0


# ---- a node's death -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("settings", "form"), [("", "write_all"), (AGGREGATORS, "iwrite_all"),
                                                ("place=core", "iwrite_all")])
def test_a_nodes_death_ends_the_job(tmp_path, mpi, nodes, settings, form):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    path = tmp_path / "out" / "file"
    path.parent.mkdir()
    job = Job(nodes.over(mpi, [0, 1]), settings, path, form, 0, ROUND)
    try:
        job.wait_for(RANKS, "pid ")
        job.wait_for(dice.randrange(3, 30), "synced ")
        dead = dice.randrange(2)
        nodes.kill(dead)
        assert job.end(SECONDS) != 0 and "ended" not in job.lines, job.seen()
        wait_until(lambda: not job.processes() and not left(nodes, 1 - dead),
                   lambda: f"left: {left(nodes, 1 - dead)}\n{job.seen()}")
        check_file(job)
    finally:
        job.kill()
