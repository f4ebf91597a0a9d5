"""The study of `tailrace bench forward`: one program and one forwarder on this machine, beside the disk and UCX.

Each round writes and reads one raw file directly, through the forwarder over the transport that UCX chooses, and over
TCP; and waits for single small writes to a file in memory, so that the network's part of their time shows. UCX's own
program sends the same sizes. A bar says how much slower the forwarder may be. Prints nothing, but reports to an
Observer.
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

from . import bars, machine, program, ucx_peer
from .bars import Bar
from .forwarder import Forwarder
from .program import Failed, Report
from .scratch import Scratch
from .steal import TRIES, Steal

VERSION = 1
TRANSPORTS = {"tcp": "tcp"}  # names in results, and those of UCX that are compared with them
SMALL = 4096  # bytes of a write that is waited for

_PLACE = pathlib.Path("build/release/bench/forward/forward_bench")
_MEMORY = pathlib.Path("/dev/shm")


@dataclass(frozen=True)
class Settings:
    """The runs to make."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    bytes: int = 256 << 20  # of the file
    request: int = 1 << 20  # bytes
    small: int = 2000  # writes of SMALL that are waited for
    repeats: int = 5
    tries: int = TRIES  # most tries of a run that the host disturbs


# A check that everything works; measures nothing.
QUICK = Settings(bytes=4 << 20, small=20, repeats=1, tries=1)


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
        scratch.require(2 * settings.bytes)
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
        self._peer = ucx_peer.is_here()

    def all(self) -> dict[str, Any]:
        s = self._settings
        ways = ["direct", *TRANSPORTS]
        runs: dict[tuple[str, str], list[float]] = {}
        self._observer.begin("one program, one forwarder", (s.repeats + 1) * len(ways) * 4)
        for number in range(s.repeats + 1):  # the first one warms up
            turn = number % len(ways)
            for way in ways[turn:] + ways[:turn]:
                for what, seconds in self._turn(way, f"round {number}" if number else "warming up").items():
                    if number:
                        runs.setdefault((way, what), []).append(seconds)
        found = {f"forward {name}": self._bars(name, runs) for name in TRANSPORTS}
        for part, each in found.items():
            self._observer.part(part, each)
        missing = [] if self._peer else [{"part": "ucx_perftest",
                                          "why": "it is not installed (Debian package ucx-utils)"}]
        for one in missing:
            self._observer.missing(one["part"], one["why"])
        return self._document([bar for each in found.values() for bar in each], missing)

    def _turn(self, way: str, title: str) -> dict[str, float]:
        """Returns the seconds of a run of each kind: for all bytes, or for one small write."""
        s = self._settings
        count = s.bytes // s.request
        seconds: dict[str, float] = {}
        for what in ("write", "read"):
            self._observer.run(f"{what}, {way}, {title}")
            report = self._run(way, what, self._scratch.of("forward")[0], s.request, count)
            seconds[what] = report["whole"]
            if what == "write":
                seconds["handed"] = report["handed"]
        self._observer.run(f"small writes, {way}, {title}")
        seconds["small"] = self._run(way, "latency", self._memory, SMALL, s.small)["latency"]
        self._observer.run(f"{ucx_peer.PROGRAM}, {way}, {title}")
        if self._peer and way in TRANSPORTS:
            names = TRANSPORTS[way]
            seconds["ucx"] = count * ucx_peer.seconds_of_message("ucp_am_bw", s.request, count, names)
            # The test sends the message to and fro, and gives half of that time.
            seconds["ucx_small"] = 2 * ucx_peer.seconds_of_message("ucp_am_lat", SMALL, s.small, names)
        return seconds

    def _run(self, way: str, what: str, directory: pathlib.Path, request: int, requests: int) -> Report:
        command = [str(self._path), "--dir", str(directory), "--what", what, "--request", str(request), "--requests",
                   str(requests)]
        if way in TRANSPORTS:
            command += self._forwarder.arguments()
        return self._steal.least_disturbed(lambda: program.ask(command, "forward_run"), self._scratch.settle)

    def _bars(self, way: str, runs: dict[tuple[str, str], list[float]]) -> list[Bar]:
        s = self._settings
        mib = s.bytes / (1 << 20)
        mine = {what: runs[way, what] for what in ("write", "handed", "read", "small")}
        direct = {what: runs["direct", what] for what in ("write", "handed", "read", "small")}
        found = [
            Bar("written through the forwarder", "MiB/s", [mib / one for one in mine["write"]]),
            Bar("written directly", "MiB/s", [mib / one for one in direct["write"]]),
            Bar("handed over, beside direct", "×", bars.ratios(mine["handed"], direct["handed"])),
            Bar("read, beside direct", "×", bars.ratios(mine["read"], direct["read"])),
            Bar("a small write in memory", "µs", bars.scaled(mine["small"], 1e6)),
            Bar("the same without forwarder", "µs", bars.scaled(direct["small"], 1e6)),
        ]
        slower = direct["write"]
        if self._peer:
            slower = [max(pair) for pair in zip(direct["write"], runs[way, "ucx"])]
            found += [Bar("UCX alone", "MiB/s", [mib / one for one in runs[way, "ucx"]]),
                      Bar("round trip of UCX alone", "µs", bars.scaled(runs[way, "ucx_small"], 1e6)),
                      Bar("a small write, beside that", "×", bars.ratios(mine["small"], runs[way, "ucx_small"]), 1.5)]
        of = "the slower of disk and UCX" if self._peer else "the disk"
        return [Bar(f"time to write, beside {of}", "×", bars.ratios(mine["write"], slower), 1 / 0.9), *found]

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
