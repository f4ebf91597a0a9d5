"""The runs of the comparison: each row once in each round, at one C/W after the other, in one directory.

A row that fails becomes a row with its error; it is not repeated, and the others continue. Only without `none` and
`sync` there is no comparison. The order changes from round to round. The first round warms up and is dropped. It uses
the parts of `tailrace bench pattern`, and repeats nothing that those have.
"""

from __future__ import annotations

import json
import pathlib
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import figures
from rows import Row
from tailrace_lab.bench import measure
from tailrace_lab.bench.program import Failed, Program, Report
from tailrace_lab.bench.scratch import Scratch
from tailrace_lab.bench.steal import TRIES, Steal

_RUN_SECONDS = 900.0  # a run that takes longer hangs
_NEEDED = ("none", "sync")
_VERIFY = ("--iterations", "5", "--passes", "20", "--bytes")
_VERIFY_BYTES = 1 << 20
_VERIFY_PEERS_BYTES = (1 << 20) + 24  # a size that no page and no sector divides


@dataclass(frozen=True)
class Settings:
    """The runs to make."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    bytes: int = 64 << 20
    iterations: int = 12
    ratios: tuple[float, ...] = (0.5, 1.0, 2.0)
    kernel: str = "busy"
    threads: int = 1
    memory: str = "heap"
    repeats: int = 5
    warmup: int = 1
    measure_count: int = measure.COUNT
    measure_repeats: int = measure.REPEATS
    calibrate_seconds: float = 0.5
    tries: int = TRIES  # most tries of a run that the host disturbs

    def document(self) -> dict[str, Any]:
        """Returns the settings as a result file has them."""
        return {"compute": self.kernel, "threads": self.threads, "memory": self.memory, "iterations": self.iterations,
                "bytes": self.bytes, "variables": 1, "repeats": self.repeats, "warmup": self.warmup, "devices": 1,
                "queue_depth": 8}


# A check that everything works; measures nothing.
QUICK = Settings(bytes=1 << 20, iterations=3, ratios=(1.0,), repeats=1, warmup=0, measure_count=8, measure_repeats=1,
                 calibrate_seconds=0.02, tries=1)


class Rounds:
    """The runs, with each row's command; `errors` has the rows that are not available, by their names."""

    def __init__(self, program: Program, settings: Settings, scratch: Scratch, rows: Sequence[Row],
                 commands: Mapping[str, Sequence[str]], errors: dict[str, str], say: Callable[[str], None]) -> None:
        self._program = program
        self._settings = settings
        self._scratch = scratch
        self._rows = rows
        self._commands = commands
        self.errors = errors
        self._say = say
        self.steal = Steal(tries=settings.tries)

    def verify(self) -> None:
        """Runs every row once, with tiny sizes; the peers read everything back and compare it. A row that fails is
        not measured."""
        expected = None
        for row in self._rows:
            self._say(f"verifying {row.title}")
            bytes_ = [str(_VERIFY_PEERS_BYTES), "--verify"] if row.is_peer else [str(_VERIFY_BYTES)]
            report = self._try(row, [*_VERIFY, *bytes_, *self._kernel()])
            if report is None:
                continue
            expected = expected or report["result_hash"]
            if row.is_peer and not report.get("verified"):
                self.errors[row.name] = "its program did not read its output back"
            if report["result_hash"] != expected:
                self.errors[row.name] = (f"it computed something else: found {report['result_hash']}, expected "
                                                f"{expected}")

    def measured(self) -> measure.Measured:
        """Measures W and the other inputs, before the rounds."""
        s = self._settings
        meter = measure.Meter(self._scratch, s.bytes, count=s.measure_count, queue_depth=8, program=self._program,
                              steal=self.steal)
        return measure.measure_by(meter, s.measure_repeats, self._say)

    def point(self, ratio: float, measured: measure.Measured) -> dict[str, Any]:
        """Makes all rounds at one C/W, and returns them as a result file has them."""
        asked = ratio * measured.write_regression.slope
        if not asked > 0:
            raise Failed(f"found C of {asked:g} s, expected more than 0: try more --bytes")
        runs = self._all(ratio, self._calibrate(asked))
        return figures.point(ratio, self._rows, runs, self.errors)

    def _calibrate(self, asked: float) -> int:
        seconds = self._settings.calibrate_seconds
        each = self.steal.least_disturbed(lambda: self._program.calibrate(self._kernel(), seconds))
        return max(1, round(asked / each))

    def _all(self, ratio: float, passes: int) -> dict[str, list[Report]]:
        s = self._settings
        runs: dict[str, list[Report]] = {row.name: [] for row in self._rows}
        for number in range(s.warmup + s.repeats):
            turn = number % len(self._rows)
            for row in [*self._rows[turn:], *self._rows[:turn]]:
                title = f"round {number - s.warmup + 1} of {s.repeats}" if number >= s.warmup else "warm-up"
                self._say(f"C/W = {ratio:g}, {title}, {row.title}")
                report = self._try(row, ["--passes", str(passes), "--iterations", str(s.iterations), "--bytes",
                                         str(s.bytes), *self._kernel()])
                if report is not None and number >= s.warmup:
                    runs[row.name].append(report)
        return runs

    def _try(self, row: Row, arguments: Sequence[str]) -> Report | None:
        """Makes a run; returns None if the row has failed, now or before."""
        name = row.name
        if name in self.errors:
            return None

        def run() -> Report:
            directory = self._scratch.of(name)[0]
            return ask([*self._commands[name], *arguments, "--variables", "1", "--dir", str(directory)])

        def tidy() -> None:  # also after a program that failed
            shutil.rmtree(self._scratch.of(name)[0], ignore_errors=True)
            self._scratch.settle()

        try:
            return self.steal.least_disturbed(run, tidy)
        except Failed as error:
            if name in _NEEDED:
                raise
            self.errors[name] = str(error)
            self._say(f"{row.title} failed: {error}")
            return None

    def _kernel(self) -> list[str]:
        s = self._settings
        return ["--compute", s.kernel, "--threads", str(s.threads), "--memory", s.memory]


def ask(command: Sequence[str]) -> Report:
    """Runs a row's program, which prints one JSON document; raises Failed."""
    said = f"\n  its command was: {shlex.join(command)}"
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_RUN_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failed(f"it has not ended within {_RUN_SECONDS:.0f} s{said}") from None
    except OSError as error:
        raise Failed(f"it cannot be started: {error.strerror}{said}") from None
    if done.returncode != 0:
        why = "; ".join(done.stderr.decode("utf-8", "replace").strip().splitlines()[-8:])
        raise Failed(f"it ended with exit code {done.returncode}: {why or 'it said nothing'}{said}")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise Failed(f"it answered {done.stdout[:60]!r}, expected a JSON document{said}") from None
    if not isinstance(answer, dict) or answer.get("pattern_run") != 1:
        raise Failed(f'it answered something without "pattern_run": 1{said}')
    return answer
