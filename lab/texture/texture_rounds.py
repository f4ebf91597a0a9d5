"""The runs of compare.py: all ways in turn, round after round, for each MPI, and the figures that follow.

Each file is hashed, and must be the same as all others. Each run starts from an empty directory, when the disk is
idle. A run that the machine's host disturbed is repeated (tailrace_lab.bench.steal).
"""

from __future__ import annotations

import dataclasses
import pathlib
import statistics
from collections.abc import Callable, Sequence

import texture_ways as ways
from texture_ways import NONE, SYNCHRONOUS, Run, Way

from tailrace.mpis import Mpi
from tailrace_lab.bench.program import Failed
from tailrace_lab.bench.runtime_directory import RuntimeDirectory
from tailrace_lab.bench.scratch import Scratch
from tailrace_lab.bench.steal import Steal

BAR = 0.10  # most of the synchronous version's lost time that a way under tailrace may lose


@dataclasses.dataclass
class Rounds:
    """Makes the runs. `say` gets a line about each."""

    build: pathlib.Path
    scratch: Scratch
    runtime: RuntimeDirectory
    steal: Steal
    options: Sequence[object]  # of the program
    ranks: int
    budget: str  # of tailrace; "": its default
    say: Callable[[str], None]

    def measure(self, mpi: Mpi, chosen: Sequence[Way], count: int) -> dict[Way, list[Run]]:
        """Returns `count` runs of each way, after a round that warms up. Raises Failed if a run does, or if two files
        differ."""
        runs: dict[Way, list[Run]] = {way: [] for way in chosen}
        for number in range(count + 1):
            turn = number % len(chosen)
            for way in [*chosen[turn:], *chosen[:turn]]:
                made = self.steal.least_disturbed(lambda way=way: self.once(mpi, way), self._tidy)
                title = f"round {number}" if number else "warming up"
                self.say(f"{mpi.name}, {title}: {way}: {made.total:.2f} s")
                runs[way] += [made] if number else []
        return runs

    def once(self, mpi: Mpi, way: Way, options: Sequence[object] = ()) -> Run:
        """Makes one run."""
        file = self.file
        words = ways.command(mpi, self.build, self.ranks, way, [*self.options, "--out", file, *options],
                             self.budget)
        return ways.run(words, file, self.runtime.environment)

    @property
    def file(self) -> pathlib.Path:
        """The file that runs write."""
        return self.scratch.of("run")[0] / "texture.f32"

    def _tidy(self) -> None:
        self.runtime.wait()
        self.scratch.empty("run")
        self.scratch.settle()


def check_files(runs: dict[str, dict[Way, list[Run]]]) -> int:
    """Returns how many files were written, by all MPIs; raises Failed if two differ."""
    found: dict[str, str] = {}
    count = 0
    for mpi, of_mpi in runs.items():
        for way, made in of_mpi.items():
            for run in made:
                if run.digest:
                    found.setdefault(run.digest, f"{mpi}, {way}")
                    count += 1
    if len(found) > 1:
        raise Failed(f"files differ: those of {' and '.join(found.values())}")
    return count


def lost(runs: dict[Way, list[Run]], way: Way) -> list[float]:
    """Returns, for each round, the seconds that the way took longer than no output."""
    return [run.total - none.total for run, none in zip(runs[way], runs[NONE])]


def ratio(runs: dict[Way, list[Run]], way: Way, base: Way = SYNCHRONOUS) -> float:
    """Returns the median of the lost time, as a part of that of `base`."""
    return statistics.median(lost(runs, way)) / statistics.median(lost(runs, base))
