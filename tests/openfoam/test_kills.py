"""Programs of OpenFOAM that are killed: the latest time is complete, and the case goes on from there."""

import os
import pathlib
import random
import select
import shutil
import signal
import subprocess

import pytest
from openfoam import carried, cases
from tailrace import cli

pytestmark = pytest.mark.skipif(shutil.which("blockMesh") is None, reason="no OpenFOAM here")

CASE = cases.PITZ_DAILY
RUN = {"endTime": "1e-4", "writeInterval": "1", "deltaT": "1e-5"}
LINES = 230  # of the log of such a run, about


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Returns a function that returns a case by the number of its ranks, with what a run without tailrace leaves."""
    made = {}

    def make(ranks):
        if ranks not in made:
            folder = tmp_path_factory.mktemp(f"prepared{ranks}")
            cases.prepare(CASE, folder / "case", ranks, **RUN)
            shutil.copytree(folder / "case", folder / "plain")
            cases.must(cases.solve(CASE, ranks), folder / "plain")
            made[ranks] = folder
        return made[ranks]
    return make


def run_and_kill(folder, ranks, place, lines):
    """Kills the program and all its ranks when it has printed so many lines. Returns false if it ended before."""
    environment = {**cases.environment(), **carried.variables(place)}
    with subprocess.Popen([str(word) for word in cases.solve(CASE, ranks)], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        for _ in range(lines):
            if not process.stdout.readline():
                return False
        kill_all(process.pid)
    return True


def kill_all(launcher):
    """Kills a process and its descendants, and waits for their ends. (mpiexec gives ranks groups of their own.)"""
    family = [launcher]
    for each in family:
        family += [int(child) for child in pathlib.Path(f"/proc/{each}/task/{each}/children").read_text().split()]
    ends = [os.pidfd_open(each) for each in family]
    for end in ends:
        signal.pidfd_send_signal(end, signal.SIGKILL)
    for end in ends:
        assert select.select([end], [], [], cases.LIMIT)[0]
        os.close(end)


def folders(folder, ranks):
    return [folder / f"processor{rank}" for rank in range(ranks)] if ranks > 1 else [folder]


def assert_times_are_whole(folder, plain, ranks):
    for mine, theirs in zip(folders(folder, ranks), folders(plain, ranks)):
        for time in cases.times(mine):
            assert cases.files(time) == cases.files(theirs / time.name)


def assert_goes_on(folder, plain, ranks, place):
    """The times that the case then has are complete, but for fields of the time before: how many of these a solver
    writes depends on where it started."""
    cases.change(folder, startFrom="latestTime")
    cases.must(cases.solve(CASE, ranks), folder, carried.variables(place))
    for mine, theirs in zip(folders(folder, ranks), folders(plain, ranks)):
        assert [time.name for time in cases.times(mine)] == [time.name for time in cases.times(theirs)]
        for time in cases.times(mine):
            missing = set(cases.files(theirs / time.name)) - set(cases.files(time))
            assert all(name.endswith("_0") for name in missing), missing


def kill_and_go_on(prepared, tmp_path, ranks, seed):
    print("seed", seed)
    dice = random.Random(seed)
    place = dice.choice(["thread", "core"])
    before, folder = prepared(ranks), tmp_path / "case"
    shutil.copytree(before / "case", folder)
    killed = run_and_kill(folder, ranks, place, dice.randrange(20, LINES))
    assert_times_are_whole(folder, before / "plain", ranks)
    recovers = dice.random() < 0.5
    if recovers:
        assert cli.main(["recover", str(folder)]) == 0
        assert not list(folder.rglob("*.partial"))
    assert_goes_on(folder, before / "plain", ranks, place)
    assert cli.main(["recover", str(folder)]) == 0
    assert not list(folder.rglob("*.partial"))
    shutil.rmtree(folder)
    return killed


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_killed_program_goes_on_from_a_complete_time(prepared, tmp_path, runtime_directory, ranks):
    seed = random.randrange(1 << 30)
    killed = [kill_and_go_on(prepared, tmp_path, ranks, seed + i) for i in range(3)]
    assert any(killed)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_hundred_killed_programs(prepared, tmp_path, runtime_directory, ranks):
    seed = random.randrange(1 << 30)
    assert sum(kill_and_go_on(prepared, tmp_path, ranks, seed + i) for i in range(100)) > 50


def lines_until(stream, begin):
    """Returns the lines up to the first one that begins so."""
    found = []
    for line in stream:
        found.append(line)
        if line.startswith(begin):
            return found
    raise AssertionError(b"".join(found))


# After a signal that asks it to end, every completed time is there (docs/ends.md).
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("place", ["thread", "core"])
def test_a_terminated_program_leaves_all_its_times(prepared, tmp_path, runtime_directory, place, number):
    folder = tmp_path / "case"
    shutil.copytree(prepared(1) / "case", folder)
    environment = {**cases.environment(), **carried.variables(place)}
    with subprocess.Popen(cases.solve(CASE), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          # A shell that started the tests in the background has SIGINT ignored.
                          preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) as process:
        lines = lines_until(process.stdout, b"Time = 3e-05")  # long before its end
        process.send_signal(number)
        lines += process.stdout.readlines()
    assert process.returncode == -number, b"".join(lines)
    assert {"1e-05", "2e-05"} <= {time.name for time in cases.times(folder)}
    assert_times_are_whole(folder, prepared(1) / "plain", 1)


def test_recover_leaves_a_running_program_alone(prepared, tmp_path, capfd):
    folder = tmp_path / "case"
    shutil.copytree(prepared(1) / "case", folder)
    environment = {**cases.environment(), **carried.variables()}
    with subprocess.Popen(cases.solve(CASE), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            if line.startswith(b"Time = 4e-05"):
                break
        process.send_signal(signal.SIGSTOP)
        (folder / "7.partial").mkdir()
        assert cli.main(["recover", str(folder)]) == 0
        assert "left alone: a program is writing to the case" in capfd.readouterr().out
        assert (folder / "7.partial").is_dir()
        process.kill()
    assert cli.main(["recover", "--dry-run", str(folder)]) == 1
    assert cli.main(["recover", str(folder)]) == 0
    assert not (folder / "7.partial").exists()


def processor_times(folder, process):
    return [time.name for time in cases.times(folder / f"processor{process}")]


def test_folders_of_an_earlier_decomposition(prepared, tmp_path):
    """Two processes go on where four were before: times that the others lack are complete."""
    folder = tmp_path / "in/case"
    shutil.copytree(prepared(2) / "plain", folder)
    for process in (2, 3):
        shutil.copytree(folder / "processor0/0", folder / f"processor{process}/0")
    cases.change(folder, startFrom="latestTime", endTime="1.2e-4")
    cases.must(cases.solve(CASE, 2), folder, carried.variables())
    log = cases.log_of(folder)
    assert "Time = 0.00011" in log and "Time = 1e-05\n" not in log
    assert processor_times(folder, 1)[-2:] == ["0.00011", "0.00012"]
    assert processor_times(folder, 2) == ["0"]


def test_a_tool_leaves_out_a_time_of_which_a_process_has_a_part(prepared, tmp_path):
    folder = tmp_path / "in/case"
    shutil.copytree(prepared(2) / "plain", folder)
    times = processor_times(folder, 0)
    (folder / f"processor1/{times[-1]}").rename(folder / f"processor1/{times[-1]}.partial")
    cases.must(["reconstructPar"], folder, carried.variables())
    assert [time.name for time in cases.times(folder)] == times[:-1]
