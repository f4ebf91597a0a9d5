"""The study of `tailrace bench forward`: one program and one forwarder on this machine, beside the disk and TLS.

Each round writes and reads one raw file directly and through the forwarder, writes one in memory through it, and
waits for small writes to a file in memory, so that the network's part of their time shows. A program computes as long
as it writes, in both ways (forward_overlap.py).
The program tls_stream sends the same bytes by TLS alone, and receives them into a file, which is all that one
connection and two processors can do; transport_speed sends them by tailrace's transport alone. A bar says how much
slower the forwarder may be. Prints nothing, but reports to an Observer.
"""

from __future__ import annotations

import contextlib
import datetime
import pathlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tailrace

from . import bars, forward_overlap, machine, program
from .bars import Bar
from .forwarder import Forwarder
from .program import Failed, Report
from .scratch import Scratch
from .steal import TRIES, Steal

VERSION = 2
SMALL = 4096  # bytes of a write that is waited for

_PLACE = pathlib.Path("build/release/lab/forward/forward_bench")
_TRANSPORT = pathlib.Path("build/release/lab/inside/transport_speed/transport_speed")
_TLS = "tls_stream"  # beside forward_bench
_MEMORY = pathlib.Path("/dev/shm")

_WAYS = ("direct", "forwarder", "memory", "tls", "transport", "overlap")
_RUNS = 11 + forward_overlap.RUNS  # of a round


@dataclass(frozen=True)
class Settings:
    """The runs to make."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    bytes: int = 256 << 20  # of the file
    request: int = 1 << 20  # bytes
    small: int = 2000  # writes of SMALL that are waited for
    output: int = 64 << 20  # bytes of an iteration of the program that computes
    iterations: int = 16
    repeats: int = 5
    tries: int = TRIES  # most tries of a run that the host disturbs


# A check that everything works; measures nothing.
QUICK = Settings(bytes=34 << 20, request=17 << 20, small=20, output=1 << 20, iterations=3, repeats=1, tries=1)


class Observer:
    """Receives the progress; this one ignores it."""

    def begin(self, title: str, runs: int) -> None:
        """The given number of runs begins."""

    def run(self, title: str) -> None:
        """One of them begins."""

    def part(self, name: str, found: Sequence[Bar]) -> None:
        """A part has ended."""

    def missing(self, name: str, why: str) -> None:
        """A part cannot be measured here."""


def study(given: pathlib.Path | None, settings: Settings, observer: Observer) -> dict[str, Any]:
    """Makes all runs and returns the document. Raises Failed."""
    path = program.locate("forward_bench", _PLACE, given, "--program")
    with contextlib.ExitStack() as all_of_them:
        scratch = all_of_them.enter_context(Scratch([settings.directory]))
        scratch.require(2 * settings.bytes + settings.iterations * settings.output)
        memory = pathlib.Path(all_of_them.enter_context(tempfile.TemporaryDirectory(
            prefix="tailrace_bench_", dir=_MEMORY if _MEMORY.is_dir() else None)))
        forwarder = all_of_them.enter_context(Forwarder([*scratch.directories, memory], 256 << 20))
        return _Study(path, settings, observer, scratch, memory, forwarder).all()


class _Study:
    def __init__(self, path: pathlib.Path, settings: Settings, observer: Observer, scratch: Scratch,
                 memory: pathlib.Path, forwarder: Forwarder) -> None:
        self._path = path
        self._settings = settings
        self._observer = observer
        self._scratch = scratch
        self._memory = memory
        self._forwarder = forwarder
        self._steal = Steal(tries=settings.tries)
        self._overlap = forward_overlap.Overlap(program.find(), scratch, forwarder, self._steal,
                                                bytes_=settings.output, iterations=settings.iterations)
        self._missing: list[dict[str, str]] = []
        try:
            self._transport = program.locate("transport_speed", _TRANSPORT, None, "--program")
        except Failed:
            self._missing = [{"part": "transport_speed", "why": "it is in a build of tailrace's repository alone"}]

    def all(self) -> dict[str, Any]:
        s = self._settings
        ways = [way for way in _WAYS if way != "transport" or not self._missing]
        runs: dict[str, list[float]] = {}
        self._observer.begin("one program, one forwarder", (s.repeats + 1) * _RUNS)
        for number in range(s.repeats + 1):  # the first one warms up
            turn = number % len(ways)
            for way in ways[turn:] + ways[:turn]:
                for what, seconds in self._turn(way, f"round {number}" if number else "warming up").items():
                    if number:
                        runs.setdefault(f"{way} {what}", []).append(seconds)
        beside = {name.removeprefix("overlap "): each for name, each in runs.items() if name.startswith("overlap ")}
        found = {"forward tls": self._peers(runs), "forward tcp": self._bars(runs),
                 "forward overlap": forward_overlap.bars_of(beside, s.iterations, machine.cpus())}
        for part, each in found.items():
            self._observer.part(part, each)
        for one in self._missing:
            self._observer.missing(one["part"], one["why"])
        return self._document([bar for each in found.values() for bar in each], self._missing)

    def _turn(self, way: str, title: str) -> dict[str, float]:
        """Returns the seconds of a run of each kind: for all bytes, or for one small write or round trip."""
        if way == "tls":
            return self._tls(title)
        if way == "overlap":
            return self._overlap.turn(lambda what: self._observer.run(f"{what}, {title}"))
        if way == "transport":
            self._observer.run(f"the transport, {title}")
            said = program.ask([str(self._transport), "--json", *(["--tiny"] if self._settings == QUICK else [])],
                               "transport_speed")
            return {"stream": self._settings.bytes / said["bandwidth"], "echo": said["latency"]}
        seconds: dict[str, float] = {}
        if way == "memory":
            self._observer.run(f"write, memory, {title}")
            return {"write": self._run(way, ["write", "--again"], self._memory)["whole"]}
        for what in ("write", "read"):
            self._observer.run(f"{what}, {way}, {title}")
            report = self._run(way, [what], self._scratch.of("forward")[0])
            seconds[what] = report["whole"]
            if what == "write":
                seconds["handed"] = report["handed"]
        self._observer.run(f"small writes, {way}, {title}")
        seconds["small"] = self._run(way, ["latency"], self._memory, SMALL)["latency"]
        return seconds

    def _tls(self, title: str) -> dict[str, float]:
        s = self._settings
        seconds: dict[str, float] = {}
        for what in ("stream", "file", "echo"):
            self._observer.run(f"TLS alone, {what}, {title}")
            request, requests = (SMALL, s.small) if what == "echo" else (s.request, s.bytes // s.request)
            command = [str(self._path.with_name(_TLS)), "--what", what, "--dir",
                       str(self._scratch.of("forward")[0]), "--request", str(request), "--requests", str(requests)]
            report = self._steal.least_disturbed(lambda command=command: program.ask(command, "tls_stream"),
                                                 self._scratch.settle)
            seconds[what] = report["latency" if what == "echo" else "whole"]
        return seconds

    def _run(self, way: str, what: Sequence[str], directory: pathlib.Path, request: int = 0) -> Report:
        s = self._settings
        requests = s.small if request else s.bytes // s.request
        command = [str(self._path), "--dir", str(directory), "--request", str(request or s.request), "--requests",
                   str(requests), "--what", *what]
        if way != "direct":
            command += self._forwarder.arguments()
        return self._steal.least_disturbed(lambda: program.ask(command, "forward_run"), self._scratch.settle)

    def _peers(self, runs: dict[str, list[float]]) -> list[Bar]:
        mib = self._settings.bytes / (1 << 20)
        found = [
            Bar("TLS alone", "MiB/s", [mib / one for one in runs["tls stream"]]),
            Bar("TLS alone, into a file", "MiB/s", [mib / one for one in runs["tls file"]]),
            Bar("4 KiB there and back by TLS alone", "µs", bars.scaled(runs["tls echo"], 1e6)),
        ]
        if "transport stream" in runs:
            found += [Bar("the transport alone", "MiB/s", [mib / one for one in runs["transport stream"]]),
                      Bar("4 KiB there and back by the transport", "µs", bars.scaled(runs["transport echo"], 1e6))]
        return found

    def _bars(self, runs: dict[str, list[float]]) -> list[Bar]:
        mib = self._settings.bytes / (1 << 20)
        mine = {what: runs[f"forwarder {what}"] for what in ("write", "handed", "read", "small")}
        direct = {what: runs[f"direct {what}"] for what in ("write", "handed", "read", "small")}
        slower = [max(pair) for pair in zip(direct["write"], runs["tls stream"])]
        return [
            Bar("time to write, beside the slower of disk and TLS", "×", bars.ratios(mine["write"], slower), 1.15),
            Bar("time to write to memory, beside TLS", "×",
                bars.ratios(runs["memory write"], runs["tls stream"]), 1 / 0.8),
            Bar("a small write, beside 4 KiB there and back", "×", bars.ratios(mine["small"], runs["tls echo"]), 2),
            Bar("time to write, beside TLS into a file", "×", bars.ratios(mine["write"], runs["tls file"])),
            Bar("written through the forwarder", "MiB/s", [mib / one for one in mine["write"]]),
            Bar("written to memory through the forwarder", "MiB/s", [mib / one for one in runs["memory write"]]),
            Bar("written directly", "MiB/s", [mib / one for one in direct["write"]]),
            Bar("handed over, beside direct", "×", bars.ratios(mine["handed"], direct["handed"])),
            Bar("read, beside direct", "×", bars.ratios(mine["read"], direct["read"])),
            Bar("a small write in memory", "µs", bars.scaled(mine["small"], 1e6)),
            Bar("the same without forwarder", "µs", bars.scaled(direct["small"], 1e6)),
        ]

    def _document(self, found: Sequence[Bar], missing: Sequence[dict[str, str]]) -> dict[str, Any]:
        s = self._settings
        now = datetime.datetime.now(datetime.timezone.utc)
        made = self._scratch.directories[0]
        return {"tailrace_forward": VERSION, "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "command": f"tailrace bench forward --dir {s.directory} --repeats {s.repeats}",
                "tailrace": tailrace.__version__, "machine": machine.describe(),
                "storage": [{"directory": str(s.directory), "filesystem": machine.filesystem(made)}],
                "bars": [bar.document() for bar in found], "missing": list(missing),
                "steal": self._steal.document()}


__all__ = ["QUICK", "Failed", "Observer", "Settings", "study"]
