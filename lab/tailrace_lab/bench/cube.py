"""The re-mapper of Cube profiles, with each way to write: the ablation of the thesis on it (Sid Lakhdar 2017, ch. 4).

A profile is generated, and a specification whose computing takes as long as its writing, or another multiple of it.
Then the ways take turns. Prints nothing.
"""

from __future__ import annotations

import datetime
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tailrace
from tailrace import cube
from tailrace.models import pipeline

from . import fit, machine

WAYS = ("none", "sync", "naive", "pinned", "aligned", "tailrace")
_MOST_WORK = 4096  # functions of an expression
_BLOCK = 4 << 20  # bytes that the re-mapper writes at a time


@dataclass(frozen=True)
class Settings:
    """What is measured."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    call_paths: int = 400
    locations: int = 20_000
    metrics: int = 12
    ratio: float = 1.0  #: computing by writing
    rounds: int = 5
    threads: int = 1
    writer_cpu: int = -1
    durable: bool = False  #: with the time until the device has the file
    specification: pathlib.Path | None = None  #: measure this one instead, as it is


@dataclass
class Way:
    """One way to write, and the figures of its runs."""

    name: str
    runs: list[dict[str, Any]] = field(default_factory=list)

    def median(self, what: str) -> float:
        """Returns the median of a figure."""
        return statistics.median(run[what] for run in self.runs)


def study(settings: Settings, progress: Callable[[str], None]) -> dict[str, Any]:
    """Measures, and returns the document."""
    settings.directory.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cube_", dir=settings.directory))
    try:
        bench = _Bench(settings, folder)
        progress("generating a profile")
        bench.generate()
        progress("saturating the device")
        saturation = bench.saturate()
        progress("choosing the work")
        work = bench.choose_work()
        ways = [Way(name) for name in WAYS]
        for number in range(settings.rounds + 1):
            for at in range(len(ways)):
                way = ways[(at + number) % len(ways)]
                progress(f"round {number} of {settings.rounds}: {way.name}")
                figures = bench.run(way.name)
                if number > 0:  # the first round warms up
                    way.runs.append(figures)
        return _document(settings, work, ways, saturation)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Bench:
    def __init__(self, settings: Settings, folder: pathlib.Path) -> None:
        self.settings, self.folder = settings, folder
        self.input, self.output = folder / "in.cubex", folder / "out.cubex"
        self.specification = settings.specification or folder / "work.spec"

    def generate(self) -> None:
        made = self.settings
        metrics = 8 if made.specification else 2
        subprocess.run([cube.program(), "generate", self.input, "--callpaths", str(made.call_paths), "--threads",
                        str(made.locations), "--processes", str(max(1, made.locations // 100)), "--metrics",
                        str(metrics)], check=True)

    def choose_work(self) -> int:
        """Returns how many functions each metric's expression has, so that computing takes `ratio` × writing."""
        if self.settings.specification:
            return 0
        times = {}
        for work in (0, 8):
            self.write_specification(work)
            times[work] = min(self.run("none")["seconds"] for _ in range(3))
        writing = statistics.median(self.run("sync")["seconds"] for _ in range(3)) - times[8]
        each = max(1e-9, (times[8] - times[0]) / 8)
        # On a busy machine the difference of two runs may be nearly nothing.
        work = min(max(0, round((self.settings.ratio * writing - times[0]) / each)), _MOST_WORK)
        self.write_specification(work)
        return work

    def saturate(self) -> dict[str, fit.Fit]:
        """Returns W under load, and the time to hand over a block: slopes over runs of different sizes, in which
        tailrace gets blocks as quickly as they can be made (Sid Lakhdar 2017 §3.2.2)."""
        written, handed = [], []
        for metrics in (1, 2, 3, 4, 6, 8):
            self.write_specification(0, metrics * max(1, self.settings.metrics // 4), self.folder / "flood.spec")
            run = min((self.run("tailrace", self.folder / "flood.spec") for _ in range(2)),
                      key=lambda one: float(one["seconds"]))
            blocks = run["bytes"] / _BLOCK
            written.append((blocks, run["seconds"]))
            handed.append((blocks, run["seconds_handing"]))
        return {"write": fit.regression(written), "request": fit.request(handed)}

    def write_specification(self, work: int, metrics: int | None = None, path: pathlib.Path | None = None) -> None:
        """Writes metrics of the time, each with that many functions."""
        lines = ["<metrics>"]
        for metric in range(metrics or self.settings.metrics):
            code = f"{{ ${{x}} = metric::time(e) + {metric}; {'${x} = abs(${x}); ' * work}return ${{x}}; }}"
            lines.append(f'<metric type="PREDERIVED_EXCLUSIVE"><uniq_name>m{metric}</uniq_name><dtype>DOUBLE</dtype>'
                         f"<cubepl>{code}</cubepl></metric>")
        (path or self.specification).write_text("\n".join([*lines, "</metrics>"]))

    def run(self, way: str, specification: pathlib.Path | None = None) -> dict[str, Any]:
        """Remaps once; returns the figures."""
        self.output.unlink(missing_ok=True)
        subprocess.run(["sync", "-f", self.folder], check=True)
        words = [cube.program(), "remap", "-r", specification or self.specification, self.input, self.output,
                 "--json",
                 "--writer", way, "--threads", str(self.settings.threads),
                 "--writer-cpu", str(self.settings.writer_cpu),
                 *(["--durable"] if self.settings.durable else [])]
        misses = _Counter(self.folder)
        done = subprocess.run([*misses.command, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OSError(f"{way}: {done.stderr.strip()}")
        return {**json.loads(done.stdout), "cache_misses": misses.count()}


class _Counter:
    """Counts cache misses by perf, where the machine does."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.file = folder / "perf.csv"
        self.command = ["perf", "stat", "-x,", "-e", "cache-misses", "-o", str(self.file)] if _perf_counts() else []

    def count(self) -> float | None:
        """Returns the misses of the run; None if they are not counted."""
        if not self.command:
            return None
        found = [line.split(",")[0] for line in self.file.read_text().splitlines() if "cache-misses" in line]
        return float(found[0]) if found and found[0].replace(".", "").isdigit() else None


def _perf_counts() -> bool:
    if shutil.which("perf") is None:
        return False
    done = subprocess.run(["perf", "stat", "-x,", "-e", "cache-misses", "true"], capture_output=True, text=True,
                          check=False)
    return done.returncode == 0 and done.stderr.split(",")[0].strip().isdigit()


def _document(settings: Settings, work: int, ways: list[Way], saturation: dict[str, fit.Fit]) -> dict[str, Any]:
    """Returns the document: C is the time without writing, W what writing synchronously adds; n blocks."""
    by_name = {way.name: way for way in ways}
    n = max(1, round(by_name["none"].median("bytes") / _BLOCK))
    computing = by_name["none"].median("seconds")
    synchronous = by_name["sync"].median("seconds")
    writing = max(1e-9, synchronous - computing)
    c, w = computing / n, writing / n
    req, loaded = max(0.0, saturation["request"].slope), max(0.0, saturation["write"].slope)
    limit = pipeline.limit(n, c, w)
    rows = []
    for way in ways:
        seconds = way.median("seconds")
        busy, alone = way.median("seconds_computing"), by_name["none"].median("seconds_computing")
        misses = [run["cache_misses"] for run in way.runs if run["cache_misses"] is not None]
        rows.append({"name": way.name, "seconds": seconds, "least": min(run["seconds"] for run in way.runs),
                     "most": max(run["seconds"] for run in way.runs), "to_limit": seconds / limit,
                     "saved": 1 - seconds / synchronous, "slowdown": busy / alone - 1 if alone > 0 else 0.0,
                     "cache_misses": statistics.median(misses) if misses else None})
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"tailrace_cube_bench": 1, "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "command": line(settings),
            "tailrace": tailrace.__version__, "machine": machine.describe(), "work": work,
            "settings": {key: str(value) if isinstance(value, pathlib.Path) else value
                         for key, value in vars(settings).items()},
            "bytes": by_name["none"].median("bytes"), "blocks": n, "compute_seconds": computing,
            "write_seconds": writing, "limit_seconds": limit,
            "saturation": {name: one.as_json() for name, one in saturation.items()},
            "models": {"sync": pipeline.sync(n, c, w), "model1": pipeline.model1(n, c, w),
                       "model2": pipeline.model2(n, c, loaded, req),
                       "model3, 2 devices": pipeline.model3(n, c, w, 2)},
            "ways": rows}


def line(settings: Settings) -> str:
    """Returns the command line that repeats the study."""
    s = settings
    words = ["tailrace bench cube", f"--dir {s.directory}", f"--callpaths {s.call_paths}",
             f"--locations {s.locations}", f"--metrics {s.metrics}", f"--ratio {s.ratio:g}", f"--repeats {s.rounds}"]
    words += [f"--threads {s.threads}"] if s.threads != 1 else []
    words += [f"--spec {s.specification}"] if s.specification else []
    words += [f"--writer-cpu {s.writer_cpu}"] if s.writer_cpu >= 0 else []
    return " ".join(words + (["--durable"] if s.durable else []))
