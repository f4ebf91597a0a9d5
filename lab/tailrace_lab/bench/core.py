"""The measurements of `tailrace bench core`: the costs of place core for a program, against their bars.

It has eight independent parts: the costs of `open` and the first output after it; the same program in place thread
and in place core; how much computing is slowed; the costs of `write` beside a memcpy; of alloc,
commit and signal; handing over while another program loads the disk; compression; the death of the server. Compared
quantities are measured in turn, round after round. A run that the machine's host disturbed is repeated (steal),
except for the kills, of which each counts. A part that cannot be measured here is reported with the reason. Prints
nothing, but reports to an Observer.
"""

from __future__ import annotations

import datetime
import pathlib
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import tailrace
from tailrace import quantity

from . import core_computing, core_places, core_program, core_restart, load, machine
from .bars import Bar, ratios, scaled
from .core_program import CoreProgram
from .core_settings import PARTS, Settings
from .program import Failed, Report
from .runtime_directory import RuntimeDirectory
from .scratch import Scratch
from .steal import Steal

VERSION = 1


# A check that everything works; measures nothing.
QUICK = Settings(repeats=1, opens=1, open_bytes=1 << 20, open_compute=0.001, place_bytes=1 << 20,
                 place_iterations=2, place_rounds=1, computing_bytes=1 << 20, computing_iterations=3,
                 copy_bytes=1 << 20, copies=3, calls=10, block=1 << 20, iterations=8, load_bytes=32 << 20,
                 filter_rounds=1, filter_seconds=0.1, kills=1, kill_after=0.3, processes=2, tries=1)


class Observer:
    """Receives the progress; this one ignores it."""

    def doing(self, title: str) -> None:
        """A step begins."""

    def part(self, title: str, bars: Sequence[Bar]) -> None:
        """A part has ended."""

    def missing(self, part: str, why: str) -> None:
        """A part cannot be measured here."""


def measure(given: pathlib.Path | None, settings: Settings, observer: Observer) -> dict[str, Any]:
    """Measures all parts and returns the document. Raises Failed."""
    with RuntimeDirectory() as runtime, Scratch([settings.directory]) as scratch:
        run = _Measurements(core_program.find(given, runtime.environment), settings, observer, scratch, runtime)
        return run.all()


class _Measurements:
    def __init__(self, program: CoreProgram, settings: Settings, observer: Observer, scratch: Scratch,
                 runtime: RuntimeDirectory) -> None:
        self._program = program
        self._settings = settings
        self._observer = observer
        self._scratch = scratch
        self._runtime = runtime
        self._steal = Steal(tries=settings.tries)

    def all(self) -> dict[str, Any]:
        s = self._settings
        self._scratch.require(s.load_bytes + s.block * (s.iterations + 1) + 4 * s.copy_bytes +
                              max(core_places.CLIENTS) * s.place_bytes * s.place_iterations)
        bars: list[Bar] = []
        missing: list[dict[str, str]] = []
        parts = {"open": self._open, "places": self._places, "computing": self._computing, "copy": self._copy,
                 "calls": self._calls, "handover": self._handover, "filters": self._filters, "restart": self._restart}
        for name in s.parts:
            try:
                found = parts[name]()
            except load.NoLoad as error:
                missing.append({"part": name, "why": str(error)})
                self._observer.missing(name, str(error))
                continue
            bars += found
            self._observer.part(name, found)
        now = datetime.datetime.now(datetime.timezone.utc)
        storage = {"directory": str(s.directory), "filesystem": machine.filesystem(self._scratch.directories[0])}
        return {"tailrace_bars": VERSION, "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "command": _command(s),
                "tailrace": tailrace.__version__, "machine": machine.describe(), "storage": [storage],
                "bars": [bar.document() for bar in bars], "missing": missing, "steal": self._steal.document()}

    def _open(self) -> list[Bar]:
        s = self._settings
        places = {"thread": (("--way", "thread"), 5.0), "core, its server with it": (("--way", "core"), 60.0),
                  "core, the server running": (("--way", "core", "--beside"), 30.0)}
        found: dict[str, list[Report]] = {place: [] for place in places}
        for number in range(s.opens):
            for place, (words, _) in places.items():
                self._observer.doing(f"open, place {place}, {number + 1} of {s.opens}")
                found[place].append(self._once(lambda directory: self._program.open(
                    directory, *words, "--bytes", s.open_bytes, "--budget", 4 * s.open_bytes, "--compute",
                    s.open_compute)))
        size, budget = quantity.format_size(s.open_bytes), quantity.format_size(4 * s.open_bytes)
        bars = []
        for place, (_, bar) in places.items():
            first = [report["handovers"][0] for report in found[place]]
            later = [statistics.median(report["handovers"][1:]) for report in found[place]]
            bars += [Bar(f"open in place {place}, budget {budget}", "ms",
                         scaled([report["open"] for report in found[place]], 1e3), bar),
                     Bar(f"{place}: first write of {size} / the later ones' median", "×", ratios(first, later), 1.3),
                     Bar(f"{place}: the later ones' median", "ms", scaled(later, 1e3))]
        return bars

    def _places(self) -> list[Bar]:
        s = self._settings
        self._observer.doing("how long a synchronous write takes")
        report = self._once(lambda directory: self._program.run(
            directory, "--way", "posix", "--bytes", s.place_bytes, "--iterations", s.place_iterations + 1,
            "--passes", 0))
        each = statistics.median(core_program.flat(core_program.seconds(report)))
        return core_places.measure(
            s, lambda *arguments: self._once(lambda directory: self._program.run(directory, *arguments)),
            self._passes(each), self._observer.doing)

    def _computing(self) -> list[Bar]:
        return core_computing.measure(
            self._settings, lambda *arguments: self._once(lambda directory: self._program.run(directory, *arguments)),
            self._passes, self._observer.doing)

    def _copy(self) -> list[Bar]:
        s = self._settings
        self._observer.doing("write, beside a memcpy")
        found = self._once(lambda directory: self._program.copy(directory, s.copy_bytes, s.copies))
        size = quantity.format_size(s.copy_bytes)
        write, private, shared = (found[key] for key in ("write", "memcpy_private", "memcpy_shared"))
        waited = "" if found["waited_memory"] == 0 else "waited for memory: not the copy alone"
        return [Bar(f"write of {size} / memcpy into private memory", "×", ratios(write, private), 1.25, note=waited),
                Bar(f"write of {size} / memcpy into shared memory", "×", ratios(write, shared)),
                Bar(f"write of {size}", "ms", scaled(write, 1e3)),
                Bar(f"memcpy of {size} into private memory", "ms", scaled(private, 1e3)),
                Bar(f"memcpy of {size} into shared memory", "ms", scaled(shared, 1e3))]

    def _calls(self) -> list[Bar]:
        self._observer.doing("alloc, commit, signal")
        found = self._once(lambda directory: self._program.calls(directory, self._settings.calls))
        wake = found["small"]["asleep"]["wake"] + found["large"]["asleep"]["wake"]
        floor = 1e6 * statistics.median(wake)
        bars = []

        def add(name: str, seconds: Sequence[float], limit: float, asleep: bool) -> None:
            note = f"the bar is {limit / floor:.2f} × a bare wake-up" if asleep else ""
            bars.append(Bar(name, "µs", scaled(seconds, 1e6), limit, note=note))
            if asleep:
                bars.append(Bar(f"{name} / a bare wake-up", "×", ratios(seconds, wake)))

        for variable, size in (("small", "4 KiB"), ("large", "1 MiB")):
            for state in ("asleep", "busy"):
                times = found[variable][state]
                both = [a + b for a, b in zip(times["alloc"], times["commit"])]
                add(f"alloc + commit, {size}, server {state}", both, 20.0, state == "asleep")
        for state in ("asleep", "busy"):
            times = found["small"][state]["signal"] + found["large"][state]["signal"]
            add(f"signal, server {state}", times, 5.0, state == "asleep")
        return bars + [Bar("waking a thread that sleeps on the server's cpu", "µs", scaled(wake, 1e6),
                           note="what the machine itself takes, once a call that finds the server asleep")]

    def _handover(self) -> list[Bar]:
        s = self._settings
        ways = ("posix", "hdf5", "core", "memory")
        found: dict[str, list[list[float]]] = {way: [] for way in ways}
        self._observer.doing("fio begins to load the disk")
        with load.Load(self._scratch.directories[0] / "fio", s.load_bytes) as loading:
            each = statistics.mean(self._times("posix", 0, min(8, s.iterations)))
            passes = self._passes(min(1.25 * each, 0.5))
            for number in range(s.repeats):
                for way in ways[number % 4:] + ways[:number % 4]:
                    self._observer.doing(f"fio loads the disk: {way}, run {number + 1} of {s.repeats}")
                    found[way].append(self._times(way, passes, s.iterations))
        rate = f"fio wrote {quantity.format_rate(loading.rate)}" if loading.rate else ""
        of = f"of {s.iterations} iterations of {quantity.format_size(s.block)}, fio loading the disk"
        names = {"core": "core: write", "posix": "pwrite past the page cache", "hdf5": "HDF5 and fdatasync",
                 "memory": "memcpy, no output"}
        bars = []
        for way, bar, note in (("core", 2.0, rate), ("posix", None, ""), ("hdf5", None, ""),
                               ("memory", None, "what the machine itself does to a copy")):
            runs = found[way]
            over = [max(run) / statistics.median(run) for run in runs]
            bars += [Bar(f"{names[way]}, slowest / median, {of}", "×", over, bar, note=note),
                     Bar(f"{names[way]}, median", "ms", scaled([statistics.median(run) for run in runs], 1e3)),
                     Bar(f"{names[way]}, slowest", "ms", scaled([max(run) for run in runs], 1e3))]
        return bars

    def _times(self, way: str, passes: int, iterations: int) -> list[float]:
        """Returns the seconds of each iteration's output, without the first one, which opens and warms up."""
        report = self._run("--way", way, "--passes", passes, "--iterations", iterations + 1, "--budget", 8)
        return core_program.flat(core_program.seconds(report))

    def _filters(self) -> list[Bar]:
        self._observer.doing("how long filters take")
        filter_time = {}
        for compress in ("zstd", "float16"):
            report = self._run("--way", "core", "--compress", compress, "--no-adaptive", "--iterations", 4,
                               "--passes", 0, "--budget", 6)
            filter_time[compress] = report["processes"][0]["filtered"]["seconds"] / 4
        write = statistics.median(self._times("posix", 0, 8))
        spare = 1.25 * max(filter_time.values())
        return (self._filtered("C > filter time", spare, write, filter_time) +
                self._filtered("C ≈ W", write, write, filter_time))

    def _filtered(self, case: str, compute: float, write: float, filter_time: dict[str, float]) -> list[Bar]:
        """Measures the client's time with and without output, at one compute time: the work is the same in all
        runs."""
        s = self._settings
        passes = self._passes(compute)
        iterations = max(4, min(100, round(s.filter_seconds / compute)))
        ways = ("none", "zstd", "float16")
        found: dict[str, list[Report]] = {way: [] for way in ways}
        for number in range(s.filter_rounds):
            for way in ways[number % 3:] + ways[:number % 3]:
                self._observer.doing(f"filters, {case}: {way}, round {number + 1} of {s.filter_rounds}")
                report = self._run("--way", "core", "--compress", way, "--iterations", iterations, "--passes", passes,
                                   "--budget", 8)
                found[way].append(report["processes"][0])
        plain = [one["left"] - one["started"] for one in found["none"]]
        took = statistics.median(one["computed"] for one in found["none"]) / iterations
        each = scaled(plain, 1e3 / iterations)
        note = (f"C {quantity.format_time(took)} in these runs, W {quantity.format_time(write)} synchronously: "
                f"C/W {took / write:.2g}")
        bars = [Bar(f"without a filter, {case}: the client's time an iteration", "ms", each, note=note)]
        for way, name in (("zstd", "shuffle + zstd"), ("float16", "float16 + shuffle + zstd")):
            times = [one["left"] - one["started"] for one in found[way]]
            did = found[way][-1]["filtered"]
            note = (f"{_where(found[way], found['none'])}; filters {quantity.format_time(filter_time[way])} a block, "
                    f"files {_smaller(did)} smaller; of {did['chunks']} chunks {did['relaxed']} relaxed, "
                    f"{did['skipped']} left out")
            of = f"{name} / without, {case}: the client's time"
            bars.append(Bar(of, "×", ratios(times, plain), 1.05, note=note))
        return bars

    def _restart(self) -> list[Bar]:
        s = self._settings
        directory = self._scratch.of("run")[0]
        bars = core_restart.measure(self._program, s, directory, self._runtime, self._observer.doing)
        self._tidy()
        return bars

    def _passes(self, seconds: float) -> int:
        """Returns how many passes of the kernel take that long."""
        return self._steal.least_disturbed(lambda: self._program.passes(seconds))

    def _run(self, *arguments: object) -> Report:
        return self._once(lambda directory: self._program.run(directory, "--bytes", self._settings.block,
                                                              "--leave-cpu", *arguments))

    def _once(self, run: Callable[[pathlib.Path], Report]) -> Report:
        """Makes a run in an empty directory."""
        return self._steal.least_disturbed(lambda: run(self._scratch.of("run")[0]), self._tidy)

    def _tidy(self) -> None:
        self._runtime.wait()  # the server removes its files itself, shortly after its last client has gone
        self._scratch.empty("run")
        self._scratch.settle()


def _where(runs: Sequence[Report], plain: Sequence[Report]) -> str:
    """Returns where the client's time goes, with filters and without, for the first process of each run."""
    computing = statistics.median(ratios([one["computed"] for one in runs], [one["computed"] for one in plain]))

    def handover(of: Sequence[Report]) -> str:
        return quantity.format_time(statistics.median(
            statistics.mean(end - begin for begin, end in zip(one["begin"], one["end"])) for one in of))

    waited = statistics.median(one["waited_memory"] for one in runs)
    return (f"computing {computing:.2f} ×, handing over {handover(runs)} against {handover(plain)}"
            + (f", waiting for memory {quantity.format_time(waited)} a run" if waited > 0 else ""))


def _smaller(filtered: dict[str, Any]) -> str:
    return f"{filtered['bytes'] / filtered['stored']:.2f} ×" if filtered["stored"] else "not"


def _command(settings: Settings) -> str:
    words = ["tailrace bench core", f"--dir {settings.directory}"]
    if settings.parts != PARTS:
        words.append(f"--only {','.join(settings.parts)}")
    words += [f"--repeats {settings.repeats}", f"--kills {settings.kills}", f"--seed {settings.seed}"]
    return " ".join(words)


def require_known(parts: Sequence[str]) -> tuple[str, ...]:
    """Returns the named parts, each once; raises Failed."""
    for part in parts:
        if part not in PARTS:
            raise Failed(f"found {part!r}, expected {', '.join(PARTS)}")
    return tuple(dict.fromkeys(parts))
