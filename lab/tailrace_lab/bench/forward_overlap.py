"""A program that computes as long as it writes, with a forwarder and without: the part of `tailrace bench forward`
about what goes on beside the program.

A round computes alone, writes alone and does both, in turn: by place thread itself ("direct"), and by place thread
through the forwarder. No schedule beats C + W + (n − 1)·max(C, W), where C and W are those of the round: of computing
alone, and of writing alone in the same way. So the network's own cost is no part of the ratio. Prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from . import bars
from .bars import Bar
from .forwarder import Forwarder
from .program import Program, Report
from .scratch import Scratch
from .steal import Steal

RUNS = 5  # of a round
WAYS = ("direct", "forwarder")

# The threads that need a processor each: the program, its writer, and the forwarder.
_PROCESSORS = 3
_KERNEL = ("--compute", "busy")

Values = Mapping[str, list[float]]


class Overlap:
    """Makes the runs of a round. The first call chooses how much the program computes."""

    def __init__(self, program: Program, scratch: Scratch, forwarder: Forwarder, steal: Steal, *, bytes_: int,
                 iterations: int) -> None:
        self._program = program
        self._scratch = scratch
        self._forwarder = forwarder
        self._steal = steal
        self._bytes = bytes_
        self._iterations = iterations
        self._passes = 0
        self._turn = 0

    def turn(self, tell: Callable[[str], None]) -> dict[str, float]:
        """Returns the seconds of each run, and of the computing in it; raises Failed. `tell` hears what begins."""
        if not self._passes:
            write = self._run("forwarder", 1)["seconds_total"] / self._iterations
            each = self._program.calibrate(_KERNEL, write)
            self._passes = max(1, round(write / each))
        runs = [("none", self._passes)] + [(way, passes) for way in WAYS for passes in (1, self._passes)]
        assert len(runs) == RUNS
        self._turn += 1
        seconds: dict[str, float] = {}
        for way, passes in runs[self._turn % RUNS:] + runs[:self._turn % RUNS]:
            name = "compute" if way == "none" else f"{way} {'write' if passes == 1 else 'both'}"
            tell(f"C = W, {name}")
            report = self._run(way, passes)
            seconds[name] = report["seconds_total"]
            seconds[f"{name}: computing"] = report["seconds_computing"]
        return seconds

    def _run(self, way: str, passes: int) -> Report:
        arguments = [*_KERNEL, "--passes", str(passes), "--iterations", str(self._iterations), "--bytes",
                     str(self._bytes), *self._scratch.arguments("forward")]
        arguments += ["--write", "none"] if way == "none" else ["--write", "tailrace", "--verb", "alloc"]
        if way == "forwarder":
            arguments += self._forwarder.arguments()
        return self._steal.least_disturbed(lambda: self._program.run(arguments), self._scratch.settle)


def bars_of(runs: Values, iterations: int, cpus: int) -> list[Bar]:
    """Returns the bars. They hold where program, writer and forwarder have a processor each."""
    enough = cpus >= _PROCESSORS
    note = "" if enough else f"{cpus} processors, which the program, its writer and the forwarder share: no bar"
    totals = {way: bars.ratios(runs[f"{way} both"], limits(runs, way, iterations)) for way in WAYS}
    slower = {way: bars.ratios(runs[f"{way} both: computing"], runs["compute: computing"]) for way in WAYS}
    return [
        Bar("computing as long as writing, beside the limit", "×", totals["forwarder"], 1.05 if enough else None,
            note=note),
        Bar("… without forwarder", "×", totals["direct"]),
        Bar("the computing, beside computing alone", "×", slower["forwarder"]),
        Bar("… without forwarder", "×", slower["direct"]),
        Bar("the computing, beside that without forwarder", "×", bars.ratios(slower["forwarder"], slower["direct"]),
            1 if enough else None),
        Bar("C / W, with the forwarder", "", bars.ratios(runs["compute: computing"], runs["forwarder write"])),
        Bar("… without forwarder", "", bars.ratios(runs["compute: computing"], runs["direct write"])),
    ]


def limits(runs: Values, way: str, iterations: int) -> Sequence[float]:
    """Returns the least time of each round, by any schedule."""
    found = []
    for compute, write in zip(runs["compute: computing"], runs[f"{way} write"]):
        found.append((compute + write + (iterations - 1) * max(compute, write)) / iterations)
    return found


__all__ = ["RUNS", "WAYS", "Overlap", "bars_of", "limits"]
