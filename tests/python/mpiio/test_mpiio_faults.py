"""MPI-IO of unchanged programs when something fails: a full disk, a killed rank, a killed server of place core.

The program is tests/mpiio/endless.cpp. Every wait is for a line that it prints, or for the end of a process."""

import contextlib
import os
import pathlib
import queue
import random
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from tailrace.cli import core_server
from tailrace.cli import run as run_command

REPOSITORY = pathlib.Path(__file__).parents[3]
PROGRAMS = REPOSITORY / "build/release/tests/mpiio"
RANKS = 3
LIMIT = 600.0  # seconds for one wait
ROUND = 64 << 10  # bytes of a rank in a round of a program that ends when it is told
TURN = 16 << 10  # bytes of a rank in the file, before those of the next one
AGGREGATORS = "collective=two_phase aggregators=2"


def program(mpi):
    return PROGRAMS / f"mpiio_endless_{mpi.name}"


def library(mpi):
    return run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"


class Job:
    """A running program, whose output arrives line by line. Its ranks are known when all have printed theirs."""

    def __init__(self, mpi, settings, path, form, rounds, size, handler="default", cycle=0):
        self.path = path
        self.lines = []  # those that wait_for() and end() have seen
        self.ranks = {}  # process numbers
        self._arriving = queue.Queue()
        environment = {**os.environ, "LD_PRELOAD": str(library(mpi)), "TAILRACE_MPIIO": settings}
        environment["OMPI_MCA_sharedfp"] = "^sm"  # Debian's Open MPI 4.1.4 cannot open files with it, as root
        environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
        words = [program(mpi), path, form, rounds, size, handler, cycle]
        self.messages = path.parents[1] / f"{path.name}.messages"
        with self.messages.open("w") as messages:
            self.process = subprocess.Popen(mpi.start(RANKS, *words), env=environment, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=messages, text=True)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._arriving.put(line.strip())
        self._arriving.put(None)

    def seen(self):
        """Describes what the program has said, for a test that fails."""
        return "\n".join([*self.lines, self.messages.read_text()])

    def _next(self, deadline):
        try:
            line = self._arriving.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            pytest.fail(f"nothing more came in time after:\n{self.seen()}")
        if line is not None:
            self.lines.append(line)
            if line.startswith("pid "):
                _, rank, process = line.split()
                self.ranks[int(rank)] = int(process)
        return line

    def wait_for(self, number, *words):
        """Waits for so many more lines that begin with one of the words."""
        deadline = time.monotonic() + LIMIT
        while number > 0:
            line = self._next(deadline)
            assert line is not None, f"the job has ended after:\n{self.seen()}"
            number -= line.startswith(words)

    def end(self, limit=LIMIT):
        """Waits for the end of the job. Returns the exit code of mpiexec."""
        deadline = time.monotonic() + limit
        while self._next(deadline) is not None:
            pass
        return self.process.wait(timeout=LIMIT)

    def errors(self):
        """Returns the errors of each rank: the call and the class."""
        found = {rank: [] for rank in range(RANKS)}
        for line in self.lines:
            if line.startswith("error "):
                found[int(line.split()[1])].append(line.split(maxsplit=2)[2])
        return found

    def rounds(self, word):
        """Returns the numbers of the rounds that are "synced" or "failed"."""
        return [int(line.split()[1]) for line in self.lines if line.startswith(word + " ")]

    def processes(self):
        """Returns the processes with the job's file among their arguments."""
        found = []
        for directory in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended
                if os.fsencode(self.path) in (directory / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(directory.name))
        return found

    def kill(self):
        self.process.kill()
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()
        self._reader.join(LIMIT)
        self.process.stdout.close()


@pytest.fixture
def start(mpi, runtime_directory):
    """Starts jobs; kills those that have not ended."""
    if not program(mpi).is_file() or not library(mpi).is_file():
        pytest.skip(f"the program for {mpi.name} is not built")
    jobs = []

    def begin(*words, **options):
        jobs.append(Job(mpi, *words, **options))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.kill()


def wait_until(condition, what):
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, f"after {LIMIT} s: {what()}"
        time.sleep(0.01)


def is_alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def servers():
    """Returns the process numbers of the servers of this test's node."""
    return [one["process"] for job in core_server.jobs() for one in job["servers"] if one.get("alive")]


def next_server(killed, job):
    """Waits for a server that is none of the killed ones: these may take a moment to end. Returns its process
    number."""
    found = []

    def look():
        found[:] = set(servers()) - set(killed)
        return found

    wait_until(look, job.seen)
    (server,) = found
    return server


def words_of(path, least):
    """Returns the words of the file, filled up with zeros to at least so many bytes."""
    data = path.read_bytes()
    return np.frombuffer(data.ljust(max(least, -(-len(data) // 8) * 8), b"\0"), "<u8")


def right_words(path, size):
    """Returns, by rank and number in the rank's data, which words of its first `size` bytes are right."""
    words = words_of(path, RANKS * size)[:RANKS * size // 8]
    right = words == np.arange(1, len(words) + 1, dtype="u8")
    return right.reshape(-1, RANKS, TURN // 8).swapaxes(0, 1).reshape(RANKS, -1)


def check_file(job):
    """Checks that all rounds that were synced without an error are right, and that no word is wrong: zeros are where
    nothing was written."""
    synced = job.rounds("synced")
    words = words_of(job.path, (max(synced) + 1) * RANKS * ROUND)
    numbers = np.arange(1, len(words) + 1, dtype="u8")
    wrong = np.flatnonzero((words != numbers) & (words != 0))
    assert wrong.size == 0, f"word {wrong[0]} is {words[wrong[0]]}\n{job.seen()}"
    for number in synced:
        of_round = slice(number * RANKS * ROUND // 8, (number + 1) * RANKS * ROUND // 8)
        assert (words[of_round] == numbers[of_round]).all(), f"round {number} is wrong\n{job.seen()}"
    head = words_of(job.path.with_name(job.path.name + ".head"), RANKS * 8)
    assert (head >= max(synced)).all(), f"{head} after round {max(synced)}\n{job.seen()}"
    return head


# ---- a full disk ----------------------------------------------------------------------------------------------

FULL = 768 << 10  # bytes of a rank: the disk has room for one rank and a part of another one


def check_told(job, rank_errors, right, writes):
    """Checks that each rank whose data are lost got an error, and each at most one for each of its writes."""
    told = [error for errors in rank_errors.values() for error in errors]
    assert told and all(error.endswith(" MPI_ERR_NO_SPACE") for error in told), job.seen()
    assert not any(error.startswith("close ") for error in told), f"the sync has told it\n{job.seen()}"
    for rank in range(RANKS):
        lost = not right[rank].all()
        assert lost <= len(rank_errors[rank]) <= writes, \
            f"rank {rank}, whose data are {'lost' if lost else 'right'}, was told {rank_errors[rank]}\n{job.seen()}"


@pytest.mark.parametrize(("settings", "form"), [
    ("collective=individual", "write"),
    ("collective=individual", "write_all"),
    ("collective=individual", "split"),
    ("place=core", "write_all"),
    ("place=core", "iwrite_all"),
    ("place=core", "split"),
    ("", "write_all"),  # small pieces go through aggregators by themselves
    (AGGREGATORS, "write_all"),
    (AGGREGATORS, "iwrite_all"),
    (AGGREGATORS, "split"),
    (f"place=core {AGGREGATORS}", "write_all"),
    (AGGREGATORS, "barrier"),
    (AGGREGATORS, "pair"),
    (AGGREGATORS, "dup"),
])
def test_a_full_disk_is_told_to_each_rank_once(start, small_disk, settings, form):
    # An aggregator writes all at once, or in many cycles.
    for handler, cycle in [("count", 0), ("default", 128 << 10)][:2 if settings == AGGREGATORS else 1]:
        path = small_disk / f"file{cycle}"
        job = start(settings, path, form, 1, FULL, handler=handler, cycle=cycle)
        assert job.end() == 0 and "ended" in job.lines, job.seen()
        assert not job.processes(), job.seen()
        errors = job.errors()
        check_told(job, errors, right_words(path, FULL), 2 if form == "pair" else 1)
        assert "No space left on device" in job.messages.read_text()
        if handler == "count":
            calls = sorted(line.split()[1] for line in job.lines if line.startswith("handler "))
            assert calls == sorted(str(rank) for rank in errors for _ in errors[rank]), job.seen()
        path.unlink()


@pytest.mark.parametrize("settings", ["collective=individual", AGGREGATORS], ids=["own", "aggregators"])
@pytest.mark.parametrize("handler", ["fatal", "fatal_default"])
def test_a_fatal_error_handler_ends_the_job(start, small_disk, handler, settings):
    job = start(settings, small_disk / "file", "write_all", 1, FULL, handler=handler)
    assert job.end() != 0 and "ended" not in job.lines, job.seen()
    wait_until(lambda: not job.processes(), job.seen)


# ---- killed ranks and servers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("settings", "form"), [("collective=individual", "write_all"), ("place=core", "iwrite_all"),
                                                (AGGREGATORS, "iwrite_all"), (f"place=core {AGGREGATORS}", "split")])
def test_a_killed_rank_ends_the_job(start, tmp_path, settings, form):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    path = tmp_path / "out" / "file"
    path.parent.mkdir()
    job = start(settings, path, form, 0, ROUND)
    job.wait_for(RANKS, "pid ")
    job.wait_for(dice.randrange(3, 30), "synced ")
    serving = servers()
    assert bool(serving) == ("core" in settings)
    os.kill(job.ranks[dice.randrange(RANKS)], signal.SIGKILL)
    assert job.end() != 0 and "ended" not in job.lines, job.seen()
    wait_until(lambda: not job.processes(), lambda: f"left: {job.processes()}\n{job.seen()}")
    wait_until(lambda: not any(map(is_alive, serving)) and not core_server.jobs(),
               lambda: f"left: {core_server.jobs()}\n{job.seen()}")
    assert not job.errors()[0], job.seen()
    check_file(job)


@pytest.mark.parametrize(("settings", "form", "kills"), [
    ("place=core", "write_all", 1), ("place=core", "iwrite_all", 3), (f"place=core {AGGREGATORS}", "iwrite_all", 2)])
def test_a_killed_server_loses_nothing(start, tmp_path, settings, form, kills):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    path = tmp_path / "out" / "file"
    path.parent.mkdir()
    job = start(settings, path, form, 0, ROUND)
    job.wait_for(RANKS, "pid ")
    killed = []
    for _ in range(kills):
        job.wait_for(dice.randrange(3, 20), "synced ", "failed ")
        server = next_server(killed, job)
        os.kill(server, signal.SIGKILL)
        killed.append(server)
    job.wait_for(5, "synced ", "failed ")
    path.with_name("file.stop").touch()
    assert job.end() == 0 and "ended" in job.lines, job.seen()
    head = check_file(job)
    if not any(job.errors().values()):
        assert not job.rounds("failed") and (head == max(job.rounds("synced"))).all(), job.seen()
    wait_until(lambda: not core_server.jobs(), lambda: f"left: {core_server.jobs()}\n{job.seen()}")


# ---- waiting in another order ---------------------------------------------------------------------------------


def test_a_request_goes_on_while_others_close_another_file(start, tmp_path):
    path = tmp_path / "out" / "file"
    path.parent.mkdir()
    job = start(AGGREGATORS, path, "other", 1, ROUND)
    assert job.end() == 0 and job.lines[-2:] == ["synced 0", "ended"], job.seen()
    assert right_words(path, ROUND).all()
