"""The study of `tailrace bench jitter`: how evenly processes write, as the simulation sees it (Dorier et al. 2012,
§3, §5.3).

Processes compute, synchronise, write, and synchronise again, so that the slowest holds up all. There are four ways: a
file for each process by HDF5, collectively into one file by MPI-IO, tailrace with its writer thread, and with its
server process; each with and without compression, and with and without a second program that loads the disk. A cell
is one combination; a run is one iteration's output of all processes. A cell that the machine's host disturbed is
repeated (steal). What is not available here is reported with the reason. Prints nothing.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import pathlib
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tailrace
from tailrace import quantity

from . import command, core_program, load, machine, program
from .core_program import CoreProgram
from .installs import Environment, Unavailable
from .load import Load
from .program import Failed, Report
from .runtime_directory import RuntimeDirectory
from .scratch import Scratch
from .steal import TRIES, Steal

WAYS = ("hdf5", "collective", "thread", "core")
SWITCH = ("off", "on")
VERSION = 1

_SOURCE = pathlib.Path("lab/core/collective.c")  # in the repository, four folders above the program
_WARMUP = 1  # iterations that do not count
_PLAIN_BYTES = "MPI-IO writes the program's bytes as they are"


@dataclass(frozen=True)
class Settings:
    """The runs to make."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    processes: int = 4
    iterations: int = 12
    bytes: tuple[int, ...] = (4 << 20, 16 << 20)  # of each process and iteration
    ways: tuple[str, ...] = WAYS
    compress: tuple[str, ...] = SWITCH
    load: tuple[str, ...] = SWITCH
    compute_seconds: float = 0.1  # for each process alone
    budget: int = 4  # blocks of each process that fit into tailrace's memory
    load_bytes: int = 512 << 20
    mpi: str = "openmpi"  # the registry's package, or "system"
    keep_environment: pathlib.Path | None = None
    tries: int = TRIES  # most tries of a cell that the host disturbs


# A check that everything works; measures nothing.
QUICK = Settings(processes=2, iterations=3, bytes=(1 << 20,), compute_seconds=0.01, load_bytes=32 << 20, mpi="system",
                 tries=1)


class Observer:
    """Receives the progress; this one ignores it."""

    def doing(self, title: str) -> None:
        """A step begins that is not a cell."""

    def begin(self, title: str, runs: int) -> None:
        """The given number of cells begins."""

    def run(self, title: str) -> None:
        """A cell begins."""


@dataclass(frozen=True)
class _Cell:
    way: str
    bytes: int
    compress: str
    load: str

    @property
    def title(self) -> str:
        words = [self.way, quantity.format_size(self.bytes)]
        words += ["zstd"] if self.compress == "on" else []
        words += ["fio"] if self.load == "on" else []
        return ", ".join(words)


def study(given: pathlib.Path | None, settings: Settings, observer: Observer) -> dict[str, Any]:
    """Runs all cells and returns the document. Raises Failed."""
    with RuntimeDirectory() as runtime, Scratch([settings.directory]) as scratch, \
            Environment(settings.keep_environment, observer.doing) as environment:
        core = core_program.find(given, runtime.environment)
        return _Study(core, settings, observer, scratch, runtime, environment).all()


class _Study:
    def __init__(self, core: CoreProgram, settings: Settings, observer: Observer, scratch: Scratch,
                 runtime: RuntimeDirectory, environment: Environment) -> None:
        self._core = core
        self._settings = settings
        self._observer = observer
        self._scratch = scratch
        self._runtime = runtime
        self._environment = environment
        self._steal = Steal(tries=settings.tries)
        self._missing: dict[str, str] = {}
        self._load_rate: float | None = None

    def all(self) -> dict[str, Any]:
        s = self._settings
        iterations = s.iterations + _WARMUP
        self._scratch.require(s.load_bytes + max(s.bytes) * s.processes * iterations)
        collective = self._collective() if "collective" in s.ways else []
        cells = self._cells(bool(collective))
        self._observer.doing("finding out how long the kernel's passes take")
        passes = self._steal.least_disturbed(lambda: self._core.passes(s.compute_seconds))
        self._observer.begin("jitter", len(cells))
        rows: list[dict[str, Any]] = []
        times: list[dict[str, Any]] = []
        for loaded, group in itertools.groupby(cells, key=lambda cell: cell.load == "on"):
            with self._load(loaded):
                for cell in group:
                    self._observer.run(cell.title)
                    report = self._run(cell, collective, passes)
                    rows.append(_row(cell, report))
                    times += _write_times(cell, report)
        return self._document(rows, times)

    def _cells(self, collective: bool) -> list[_Cell]:
        s = self._settings
        cells = [_Cell(way, bytes_, compress, loaded) for loaded in s.load for bytes_ in s.bytes
                 for compress in s.compress for way in s.ways]
        if not collective:
            cells = [cell for cell in cells if cell.way != "collective"]
        elif "on" in s.compress:
            self._missing["collective, zstd"] = _PLAIN_BYTES
            cells = [cell for cell in cells if cell.way != "collective" or cell.compress == "off"]
        if "on" in s.load:
            try:
                load.find()
            except load.NoLoad as error:
                self._missing["fio"] = str(error)
                cells = [cell for cell in cells if cell.load == "off"]
        if not cells:
            raise Failed("nothing is left to run: " + "; ".join(f"{of}: {why}" for of, why in self._missing.items()))
        return cells

    def _collective(self) -> list[str]:
        """Returns the command of the collective way without its options; None if it is not available."""
        s = self._settings
        self._observer.doing(f"looking for an MPI ({s.mpi})")
        try:
            made = self._environment.compiled(s.mpi, [self._core.path.parents[4] / _SOURCE])
            mpi = self._environment.mpi(s.mpi)
        except (Unavailable, IndexError) as error:
            self._missing["collective"] = str(error)
            return []
        return mpi.start(s.processes, made, "--library",
                         self._core.pattern.path.with_name("libpattern_compute.so"))

    @contextlib.contextmanager
    def _load(self, loaded: bool) -> Iterator[None]:
        if not loaded:
            yield
            return
        with Load(self._scratch.directories[0] / "fio", self._settings.load_bytes) as loading:
            yield
        self._load_rate = loading.rate

    def _run(self, cell: _Cell, collective: Sequence[str], passes: int) -> Report:
        return self._steal.least_disturbed(lambda: self._once(cell, collective, passes), self._tidy)

    def _tidy(self) -> None:
        self._runtime.wait()
        self._scratch.empty("run")
        self._scratch.settle()

    def _once(self, cell: _Cell, collective: Sequence[str], passes: int) -> Report:
        s = self._settings
        directory = self._scratch.of("run")[0]
        shape = ["--bytes", cell.bytes, "--iterations", s.iterations + _WARMUP, "--passes", passes]
        if cell.way == "collective":
            return program.ask([*collective, "--dir", str(directory), *map(str, shape)], "core_run")
        more = ["--leave-cpu", "--file-per-node"] if cell.way == "core" else []
        return self._core.run(directory, *shape, "--processes", s.processes, "--way", cell.way, "--compress",
                              "zstd" if cell.compress == "on" else "none", "--budget", s.budget, *more)

    def _document(self, rows: list[dict[str, Any]], times: list[dict[str, Any]]) -> dict[str, Any]:
        s = self._settings
        now = datetime.datetime.now(datetime.timezone.utc)
        storage = {"directory": str(s.directory), "filesystem": machine.filesystem(self._scratch.directories[0]),
                   "page_cache": "bypassed or synced, as each way says"}
        return {"tailrace_jitter": VERSION, "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "command": line(s),
                "tailrace": tailrace.__version__, "machine": machine.describe(), "storage": [storage],
                "settings": {"processes": s.processes, "iterations": s.iterations,
                             "compute_seconds": s.compute_seconds, "budget_blocks": s.budget,
                             "load_bytes_per_second": self._load_rate},
                "missing": [{"what": what, "why": why} for what, why in self._missing.items()], "cells": rows,
                "write_times": times, "steal": self._steal.document()}


def _row(cell: _Cell, report: Report) -> dict[str, Any]:
    """Returns the summary of a cell; times in seconds, throughputs in bytes a second."""
    processes = report["processes"]
    every = core_program.flat(core_program.seconds(report, _WARMUP))
    begins, ends = (list(zip(*(one[key][_WARMUP:] for one in processes))) for key in ("begin", "end"))
    phases = [max(end) - min(begin) for begin, end in zip(begins, ends)]
    span = max(one["done"] for one in processes) - min(one["started"] for one in processes)
    written = cell.bytes * len(processes)
    filtered = [one["filtered"] for one in processes if one.get("filtered", {}).get("chunks")]
    return {"experiment": cell.title, "way": cell.way, "bytes": cell.bytes, "compress": cell.compress == "on",
            "load": cell.load == "on", "description": report["description"], "mean": statistics.fmean(every),
            "least": min(every), "worst": max(every), "spread": max(every) - min(every),
            "deviation": statistics.pstdev(every), "phase_mean": statistics.fmean(phases), "phase_worst": max(phases),
            "throughput_seen": written / statistics.fmean(phases),
            "throughput_run": written * report["iterations"] / span,
            "chunks": sum(one["chunks"] for one in filtered),
            "chunks_less": sum(one["relaxed"] + one["skipped"] for one in filtered)}


def _write_times(cell: _Cell, report: Report) -> list[dict[str, Any]]:
    """Returns the write times of which `tailrace plot` draws tiles."""
    each = core_program.seconds(report, _WARMUP)
    return [{"experiment": cell.title, "run": run + 1, "process": process, "seconds": times[run], "bytes": cell.bytes}
            for run in range(len(each[0])) for process, times in enumerate(each)]


def line(settings: Settings) -> str:
    """Returns the command line that repeats the study."""
    s = settings
    words = ["tailrace", "bench", "jitter", "--dir", str(s.directory), "--processes", str(s.processes),
             "--iterations", str(s.iterations), "--bytes", ",".join(map(command.size, s.bytes)), "--compute-time",
             f"{s.compute_seconds:g}s"]
    for option, value, default in (("--ways", s.ways, WAYS), ("--compress", s.compress, SWITCH),
                                   ("--load", s.load, SWITCH)):
        if value != default:
            words += [option, ",".join(value)]
    words += ["--mpi", s.mpi] if s.mpi != "openmpi" else []
    return " ".join(words)
