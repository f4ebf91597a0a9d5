"""Dedicated nodes: their ranks run forwarders. Here that many ranks of one machine count as one node."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
import replay_runs as runs
import test_damaris
from tailrace import mpis
from tailrace.cli import forwarder

try:
    forwarder.find()
except forwarder.Missing as missing:
    pytest.skip(str(missing), allow_module_level=True)


def _environment(size: int, directory: pathlib.Path) -> dict[str, str]:
    """For nodes of `size` ranks; key files lie in `directory`."""
    return {**os.environ, "TAILRACE_DAMARIS_NODE_SIZE": str(size), "TMPDIR": str(directory)}


def _calls(rank: int) -> list[str]:
    return ["set size i 2", f"move fields/t 0 {6 * rank},0",
            *(line for step in range(3) for line in (f"write fields/t 0 d 30 {30 * rank + 500 * step}", "end"))]


def test_clients_hand_over_to_a_dedicated_node(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Two clients, and a node of two ranks that writes for them: the files are those of a run without it."""
    description = runs.xml(test_damaris.FIELD, cores=0, nodes=1)
    run = runs.replay(mpi, tmp_path, description, [_calls(rank) for rank in range(2)], cores=2,
                      environment=_environment(2, tmp_path))
    assert (run.start, run.finalize) == (runs.OK, runs.OK), run.output
    assert run.codes == [[0] * 9] * 2, run.output
    told = "the buffer of 8388608 bytes is too small for the forwarder of a dedicated node, which takes 67108864"
    assert run.output.count(told) == 1, run.output
    assert sorted(file.name for file in (tmp_path / "out").iterdir() if not file.name.startswith(".")) == [
        f"sim_It{step}_Pr{rank}.h5" for step in range(3) for rank in range(2)]
    for step in range(3):
        for rank in range(2):
            found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr{rank}.h5")
            np.testing.assert_array_equal(found[f"fields/t/P{rank}"],
                                          runs.counting((6, 5), 30 * rank + 500 * step, "float64"))
    assert not list(tmp_path.glob("tailrace-damaris-*.key"))


@pytest.mark.parametrize("mode", ["FilePerCore", "Collective"])
def test_dedicated_cores_and_a_dedicated_node(mpi: mpis.Mpi, tmp_path: pathlib.Path, mode: str) -> None:
    """The server of a node of three ranks hands over to a node of three; both file modes, with XDMF files."""
    description = runs.xml(test_damaris.FIELD, mode=mode, cores=1, nodes=1).replace("NoIteration", "EveryIteration")
    run = runs.replay(mpi, tmp_path, description, [_calls(rank) for rank in range(2)], cores=4,
                      environment=_environment(3, tmp_path))
    assert run.codes == [[0] * 9] * 2, run.output
    end = "" if mode == "Collective" else "_Pr0"
    assert sorted(file.name for file in (tmp_path / "out").glob("sim*")) == sorted(
        ["sim.xmf", *(f"sim_It{step}{end}.{kind}" for step in range(3) for kind in ("h5", "xmf"))])
    for step in range(3):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}{end}.h5")
        whole = runs.counting((12, 5), 500 * step, "float64")
        if mode == "Collective":
            np.testing.assert_array_equal(found["fields/t"], whole)
        else:
            for rank in range(2):
                np.testing.assert_array_equal(found[f"fields/t/P{rank}"], whole[6 * rank:6 * rank + 6])


def test_too_few_nodes(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """No node would be left to compute: told at once."""
    run = runs.replay(mpi, tmp_path, runs.xml(test_damaris.FIELD, cores=0, nodes=2), [_calls(0)], cores=3,
                      environment=_environment(2, tmp_path))
    assert '<dedicated nodes="2">: found 2 nodes, expected more' in run.output
    assert run.codes == [[]]


def test_a_forwarder_that_dies(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """The clients write what follows themselves, and lose nothing."""
    calls = [[*_calls(rank)[:4], f"wait go.{rank}", *_calls(rank)[4:]] for rank in range(2)]
    killed: list[int] = []
    killer = threading.Thread(target=_kill_the_forwarder, args=(tmp_path, killed))
    killer.start()
    run = runs.replay(mpi, tmp_path, runs.xml(test_damaris.FIELD, cores=0, nodes=1), calls, cores=2,
                      environment=_environment(2, tmp_path))
    killer.join()
    assert len(killed) == 1
    assert run.codes == [[0] * 10] * 2, run.output
    for step in range(3):
        for rank in range(2):
            found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr{rank}.h5")
            np.testing.assert_array_equal(found[f"fields/t/P{rank}"],
                                          runs.counting((6, 5), 30 * rank + 500 * step, "float64"))


def _kill(directory: pathlib.Path, name: str) -> list[int]:
    """Kills all processes in this directory whose name begins so, and returns their numbers."""
    killed = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            ours = (process / "cwd").resolve() == directory.resolve()
            if ours and (process / "comm").read_text().startswith(name):
                os.kill(int(process.name), signal.SIGKILL)
                killed.append(int(process.name))
    return killed


def _kill_the_forwarder(directory: pathlib.Path, killed: list[int]) -> None:
    """Kills the one that works in this directory, when both clients have got to their wait."""
    limit = time.monotonic() + 600
    while not all((directory / "out" / f"sim_It0_Pr{rank}.h5").exists() for rank in range(2)):
        assert time.monotonic() < limit
        os.sched_yield()
    killed += _kill(directory, "tailrace-forwar")
    for rank in range(2):
        (directory / f"go.{rank}").touch()


#: By these the other ranks go on when one has died: options of the launcher, and what starts the program. MPICH's
#: launcher ends a job of which a process was killed, and sends SIGUSR1 to the others, so a shell is between them.
GO_ON = {"mpich": (["-disable-auto-cleanup"], ["sh", "-c", 'trap "" USR1; "$@"; true', "sh"]),
         "openmpi": (["--enable-recovery"], [])}

EVENT_FOR_ALL = '<event name="e" action="none" scope="bcast"/>'


@pytest.mark.parametrize(("cores", "actions"), [(0, ""), (1, ""), (1, EVENT_FOR_ALL)],
                         ids=["no cores", "cores", "event for all"])
def test_a_client_that_dies(mpi: mpis.Mpi, tmp_path: pathlib.Path, cores: int, actions: str) -> None:
    """The others go on, and the dedicated node ends with the last of them. Two nodes have a client and as many
    dedicated cores; the third one is dedicated. With an event for all, each dedicated core waits for all clients."""
    (tmp_path / "out").mkdir()
    (tmp_path / "sim.xml").write_text(runs.xml(test_damaris.FIELD, cores=cores, nodes=1, actions=actions))
    # MPICH's launcher then kills servers, too: what they have not written waits for the next call of their clients.
    calls = [[*_calls(0)[:4], "wait go.0", *_calls(0)[4:]], [*_calls(1)[:4], "wait out/sim_It0_Pr0.h5", "die"]]
    for client, lines in enumerate(calls):
        (tmp_path / f"calls.{client}").write_text("".join(line + "\n" for line in lines))
    size = cores + 1
    options, shell = GO_ON[mpi.name]
    program = runs.PROGRAMS / f"damaris_replay_{mpi.name}"
    launcher, *rest = mpi.start(3 * size, *shell, program, "sim.xml", ".")
    with (tmp_path / "output").open("w") as output, subprocess.Popen(
            [launcher, *options, *rest], cwd=tmp_path, stdout=output, stderr=output,
            env=_environment(size, tmp_path)):
        try:
            _wait_for(tmp_path / "codes.1", tmp_path / "out" / "sim_It0_Pr0.h5")
            (tmp_path / "go.0").touch()
            _wait_for(*(tmp_path / f"ended.{rank}" for rank in range(3 * size) if rank != size))
        finally:
            _kill(tmp_path, "")  # the ranks may wait for the dead one in MPI_Finalize
    assert not (tmp_path / f"ended.{size}").exists()
    assert (tmp_path / "codes.0").read_text().split() == ["0"] * 10, (tmp_path / "output").read_text()
    for step in range(3):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")
        np.testing.assert_array_equal(found["fields/t/P0"], runs.counting((6, 5), 500 * step, "float64"))


def test_events_after_a_death(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Two nodes, each with two clients and a dedicated core. One client dies: the others' calls and events go on, and
    events that wait for all clients wait for the living ones."""
    (tmp_path / "out").mkdir()
    library = runs.PROGRAMS / "libdamaris_events.so"
    events = (("group", "all_of_a_server"), ("bcast", "on_each_server"), ("global", "when_all_have"))
    actions = "".join(f'<event name="{name}" action="{action}" library="{library}" scope="{name}"/>'
                      for name, action in events)
    (tmp_path / "sim.xml").write_text(runs.xml(test_damaris.FIELD, actions=actions))
    signals = [f"signal {name}" for name, _ in events]
    calls = [["set size i 2", "write fields/t 0 d 30 0", *signals, "end",
              *(["wait out/sim_It0_Pr0.h5", "wait out/sim_It0_Pr1.h5", "wait seen", "die"] if client == 1 else
                [*signals, f"wait go.{client}", "write fields/t 0 d 30 1", "end",
                 "write fields/t 0 d 30 2", *signals, "end"])] for client in range(4)]
    for client, lines in enumerate(calls):
        (tmp_path / f"calls.{client}").write_text("".join(line + "\n" for line in lines))
    options, shell = GO_ON[mpi.name]
    launcher, *rest = mpi.start(6, *shell, runs.PROGRAMS / f"damaris_replay_{mpi.name}", "sim.xml", ".")
    environment = {**_environment(3, tmp_path), "REPLAY_EVENTS": str(tmp_path / "events")}

    def ran(action: str) -> list[int]:
        lines = [line.split() for line in (tmp_path / "events").read_text().split("\n")[:-1]]
        return sorted(int(line[3]) for line in lines if line[0] == action)

    with (tmp_path / "output").open("w") as output, subprocess.Popen(
            [launcher, *options, *rest], cwd=tmp_path, stdout=output, stderr=output, env=environment):
        try:
            _wait_for(tmp_path / "events")
            (tmp_path / "seen").touch()
            _wait_until(lambda: ran("when_all_have") == [0, 0, 1, 1])  # the second time without the dead one
            for client in (0, 2, 3):
                (tmp_path / f"go.{client}").touch()
            _wait_for(*(tmp_path / f"ended.{rank}" for rank in range(6) if rank != 1))
        finally:
            _kill(tmp_path, "")
    assert not (tmp_path / "ended.1").exists()
    for client in (0, 2, 3):
        assert (tmp_path / f"codes.{client}").read_text().split() == ["0"] * 18, (tmp_path / "output").read_text()
    assert ran("all_of_a_server") == ran("when_all_have") == [0, 0, 1, 1, 2, 2]
    assert ran("on_each_server") == [*[0] * 8, *[1] * 6, *[2] * 6]
    for step in range(3):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")
        assert sorted(found) == [f"fields/t/P{client}" for client in ([0, 1] if step == 0 else [0])]


def _wait_until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < limit
        os.sched_yield()


def _wait_for(*files: pathlib.Path) -> None:
    _wait_until(lambda: all(file.exists() for file in files))
