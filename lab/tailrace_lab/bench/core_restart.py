"""The part `restart` of `tailrace bench core`: the server is killed while clients write, again and again.

The time until a client continues is counted from the kill to the end of the first iteration that it began afterwards
and that is written (flushed). That is an upper bound, since it contains this iteration and the rest of the one
before. At the end all files are compared, bit by bit, with the data that were handed over.
"""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tailrace import quantity

from . import program
from .bars import Bar
from .core_program import CoreProgram
from .program import Failed
from .runtime_directory import RuntimeDirectory

if TYPE_CHECKING:
    from .core_settings import Settings

_BYTES = 4 << 20
_COMPUTE = 0.02  # seconds of each process for an iteration
_LIMIT = 2.0  # the bar: seconds
_MOST = 120.0  # longest wait for a server, in seconds


def measure(core: CoreProgram, settings: Settings, directory: pathlib.Path, runtime: RuntimeDirectory,
            doing: Callable[[str], None]) -> list[Bar]:
    """Returns the bars; raises Failed."""
    shape: list[object] = ["--processes", settings.processes, "--bytes", min(_BYTES, settings.block)]
    doing("finding out how many iterations the kills take")
    trial = core.run(directory, *shape, "--iterations", 10, "--passes", core.passes(_COMPUTE), "--flush")
    each = max(one["left"] - one["started"] for one in trial["processes"]) / 10
    # More iterations than the kills take, since restarts take time as well, and the last one must be seen, too.
    iterations = max(20, round((settings.kills + 1) * settings.kill_after / each * 1.5))
    shape += ["--iterations", iterations]
    command = core.command("run", directory, *shape, "--passes", core.passes(_COMPUTE), "--flush")
    kills, report = _run(command, core, settings, runtime, doing)
    doing("comparing the files")
    compared = core.verify(directory, *shape)
    times = _times(kills, report)
    if not times:
        raise Failed("no client began an iteration after the server was killed: found nothing to measure")
    files = settings.processes * iterations
    wrong = len(compared["wrong"])
    note = "; ".join(compared["wrong"][:2])
    said = (f"server killed {quantity.counted(len(kills), 'time')} beside "
            f"{quantity.counted(settings.processes, 'client')} (seed {settings.seed})")
    return [Bar(f"{said}: until a client goes on", "s", times, _LIMIT, "most"),
            Bar(f"files lost or different, of {files} of {quantity.format_size(min(_BYTES, settings.block))}", "",
                [float(wrong)], 0.0, "most", note)]


def _run(command: list[str], core: CoreProgram, settings: Settings, runtime: RuntimeDirectory,
         doing: Callable[[str], None]) -> tuple[list[float], dict[str, Any]]:
    """Returns the times when servers were killed, and the run's document."""
    chance = random.Random(settings.seed)
    kills: list[float] = []
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, **core.environment})
    try:
        _wait_for_server(runtime, running)
        for number in range(settings.kills):
            doing(f"kills the server, {number + 1} of {settings.kills}")
            time.sleep(settings.kill_after * chance.uniform(0.5, 1.5))
            servers = _wait_for_server(runtime, running)
            if not servers:
                break  # the run has ended
            kills.append(time.monotonic())
            os.kill(servers[0], signal.SIGKILL)
        said, complaints = running.communicate(timeout=_MOST)
    except subprocess.TimeoutExpired:
        raise Failed(f"the clients have not ended within {_MOST:.0f} s after the last kill") from None
    finally:
        if running.poll() is None:
            running.kill()
            running.communicate()
    return kills, program.answer_of(command, running.returncode, said, complaints, "core_run")


def _wait_for_server(runtime: RuntimeDirectory, running: subprocess.Popen[bytes]) -> list[int]:
    end = time.monotonic() + _MOST
    while running.poll() is None and time.monotonic() < end:
        servers = runtime.servers()
        if servers:
            return servers
        time.sleep(0.005)
    return []


def _times(kills: list[float], report: dict[str, Any]) -> list[float]:
    """Returns the times from each kill until each client continued."""
    found = []
    for kill in kills:
        for one in report["processes"]:
            after = [end for begin, end in zip(one["begin"], one["end"]) if begin > kill]
            if after:
                found.append(after[0] - kill)
    return found
