"""The study of `tailrace bench forward --schedulers`: schedulers of real forwarders, beside the simulated study.

Processes read or write through four forwarders, as those of the paper do, with each scheduler in turn, round after
round. Forwarders, clients, network and schedulers are real. The data servers are not: the storage of the forwarders
(and of the clients, without forwarding) delays each transfer as the disks of the simulated study would, with a state
that all share; the bytes lie in memory. Prints nothing, but reports to an Observer.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tailrace

from . import forwarder, machine, program, student
from .forward import Observer
from .namespaces import Namespaces, Unavailable
from .program import Failed

VERSION = 1

_PLACE = pathlib.Path("build/release/lab/inside/forward_testbed/forward_testbed")
_STUDY = pathlib.Path("build/release/lab/inside/forward_study/forward_study")
_MEMORY = pathlib.Path("/dev/shm")


@dataclass(frozen=True)
class Settings:
    """The runs to make."""

    clients: int = 128
    requests: int = 16  # of each client
    request: int = 32 << 10  # bytes
    pattern: str = "strided"
    write: bool = False
    disk: str = "sata7200"
    windows: tuple[int, ...] = (1, 2, 4, 8, 16, 32)  # ms, of twins
    forwarders: int = 4
    repeats: int = 8


# A check that everything works; measures nothing.
QUICK = Settings(clients=4, requests=2, windows=(8,), forwarders=2, repeats=2)


def study(given: pathlib.Path | None, settings: Settings, observer: Observer) -> dict[str, Any]:
    """Makes all runs and returns the document. Raises Failed."""
    path = program.locate("forward_testbed", _PLACE, given, "--program")
    with contextlib.ExitStack() as all_of_them:
        memory = pathlib.Path(all_of_them.enter_context(tempfile.TemporaryDirectory(
            prefix="tailrace_testbed_", dir=_MEMORY if _MEMORY.is_dir() else None)))
        (memory / "files").mkdir()
        forwarder.make_key(memory / "key")
        try:
            with contextlib.ExitStack() as isolated:
                network = isolated.enter_context(Namespaces(settings.forwarders))
                return _Testbed(path, settings, observer, memory, network, "", isolated).all()
        except Unavailable as unavailable:
            return _Testbed(path, settings, observer, memory, None, str(unavailable), all_of_them).all()


class _Testbed:
    def __init__(self, path: pathlib.Path, settings: Settings, observer: Observer, memory: pathlib.Path,
                 network: Namespaces | None, why: str, stack: contextlib.ExitStack) -> None:
        self._path = path
        self._settings = settings
        self._observer = observer
        self._memory = memory
        self._network = network
        self._why = why
        self._stack = stack
        self._key = memory / "key"
        self._servers = ["--state", str(memory / "state"), "--disk", settings.disk]

    def all(self) -> dict[str, Any]:
        s = self._settings
        schedules: dict[str, dict[str, Any] | None] = {"no forwarding": None, "fifo": {"kind": "fifo"},
                                                       "hbrr": {"kind": "hbrr"}}
        schedules |= {f"twins {window} ms": {"kind": "twins", "window": f"{window} ms"} for window in s.windows}
        schedules["adaptive"] = {"kind": "adaptive"}
        self._observer.begin("schedulers of real forwarders", (s.repeats + 1) * len(schedules))
        addresses = {name: self._start(name, schedule) for name, schedule in schedules.items()}
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in schedules}
        names = list(schedules)
        for number in range(s.repeats + 1):  # the first one warms up
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                self._observer.run(f"{name}, round {number}" if number else f"{name}, warming up")
                found = self._run(addresses[name])
                if number:
                    runs[name].append(found)
        return self._document(runs, self._simulated())

    def _start(self, name: str, schedule: dict[str, Any] | None) -> list[str]:
        """Starts the forwarders of a schedule, and returns their addresses."""
        if schedule is None:
            return []
        return [self._start_one(f"{name.replace(' ', '_')}_{number}", number, schedule)
                for number in range(self._settings.forwarders)]

    def _start_one(self, name: str, number: int, schedule: dict[str, Any]) -> str:
        host = self._network.address(number) if self._network else "127.0.0.1"
        config = self._memory / f"{name}.yaml"
        config.write_text(json.dumps({  # JSON is YAML
            "tailrace": 1, "name": "testbed", "memory": {"budget": 64 << 20}, "schedule": schedule,
            "storage": {"backend": "posix", "direct": False},
            "forward": {"listen": f"{host}:0", "roots": [str(self._memory / "files")], "key": str(self._key),
                        "number": number}}))
        inside = self._network.inside(number) if self._network else []
        environment = self._network.for_ucx_inside(number) if self._network else {}
        try:
            process, address = forwarder.start([*inside, str(self._path), "forward", "--config", str(config),
                                                *self._servers], {**os.environ, **environment})
        except Failed as failed:
            if self._network:
                raise Unavailable(f"UCX does not work in one: {failed}") from None
            raise
        self._stack.callback(forwarder.end, process)
        return address

    def _run(self, addresses: Sequence[str]) -> dict[str, float]:
        s = self._settings
        command = [str(self._path), "clients", *self._servers, "--dir", str(self._memory / "files"), "--clients",
                   str(s.clients), "--requests", str(s.requests), "--bytes", str(s.request), "--pattern", s.pattern,
                   *(["--write"] if s.write else [])]
        if addresses:
            command += ["--key", str(self._key)]
        for number, address in enumerate(addresses):
            command += ["--forward", address]
            if self._network:
                command += ["--device", self._network.device(number)]
        return program.ask(command, "testbed_run")

    def _simulated(self) -> dict[str, float]:
        """Returns the seconds that the simulated study gives for each schedule; none if it is not built."""
        s = self._settings
        if not _STUDY.is_file():
            return {}
        result = self._memory / "simulated.json"
        command = [str(_STUDY), "--disk", s.disk, "--clients", str(s.clients), "--requests", str(s.requests),
                   "--size", str(s.request >> 10), "--pattern", s.pattern, *(["--writes"] if s.write else []),
                   "--forwarders", str(s.forwarders), "--windows", ",".join(map(str, s.windows)),
                   "--runs", str(s.repeats), "--json", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{_STUDY.name}: {done.stderr.strip()}")
        lines = json.loads(result.read_text())["lines"]
        return {line["schedule"]: line["seconds"] for line in lines}

    def _document(self, runs: dict[str, list[dict[str, float]]], simulated: dict[str, float]) -> dict[str, Any]:
        s = self._settings
        now = datetime.datetime.now(datetime.timezone.utc)
        lines = []
        for name, each in runs.items():
            seconds = [one["seconds"] for one in each]
            lines.append({"schedule": name, "seconds": sum(seconds) / len(seconds),
                          "half_interval": student.half_interval(seconds), "each": seconds,
                          "seeks": sum(one["seeks"] for one in each) / len(each), "simulated": simulated.get(name)})
        words = [f"--clients {s.clients}", f"--requests {s.requests}", f"--request {s.request}",
                 f"--pattern {s.pattern}", *(["--write"] if s.write else []), f"--disk {s.disk}",
                 f"--repeats {s.repeats}"]
        return {"tailrace_schedulers": VERSION, "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "command": f"tailrace bench forward --schedulers {' '.join(words)}", "tailrace": tailrace.__version__,
                "machine": machine.describe(), "confidence": 0.997,
                "network": "namespaces" if self._network else "loopback", "no_namespaces": self._why,
                "bytes": s.clients * s.requests * s.request, "clients": s.clients, "forwarders": s.forwarders,
                "pattern": s.pattern, "write": s.write, "disk": s.disk, "request": s.request, "lines": lines}


__all__ = ["QUICK", "Settings", "study"]
