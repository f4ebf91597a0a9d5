"""The patterns that `tailrace bench small` compares, the ways to write them, and the bars. Pure.

The patterns are those of Venkatesan 2013, §5.4 (FFBench, Flash-I/O), and of MPI-Tile-I/O;
lab/small/access_pattern.h defines their pieces.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .bars import Bar, ratios
from .program import Report

FLASH = ("checkpoint", "plot", "corners")
PATTERNS = ("rows", "overlap", "behind", *FLASH, "tiles")
TITLES = {"rows": "rows of a matrix, dealt to the clients in turn",
          "overlap": "one client, whose pieces overlap", "behind": "each piece is read back when it has been written",
          "checkpoint": "Flash-I/O, checkpoint", "plot": "Flash-I/O, plot file, centred",
          "corners": "Flash-I/O, plot file with corners", "tiles": "tiles of a matrix, one a client"}
# MPI does not define overlapping writes, nor a read after a write that the others do not know.
COLLECTIVE = ("rows", *FLASH, "tiles")

ON, OFF, PWRITE, LIMIT = "compactor on", "compactor off", "pwrite", "limit"
NO_MORPHING, NO_STEALING = "without morphing", "without stealing"
_UNMERGED = "enabled: false, overwrite: false, read_after: written"
# Values for the configuration's `merge`.
MERGE = {ON: "", OFF: _UNMERGED, "without joining": "largest: 4 KiB", NO_MORPHING: "overwrite: false",
         NO_STEALING: "read_after: written", "without gathering": "count: 1", "gathering without a delay": "delay: 0"}

_BASE = 64 << 20  # bytes for which the writes that reach storage are counted
_MOST_WRITES = 32

# Limits for the time with tailrace, divided by the time of another way.
_TIMES = {"rows": (OFF, 0.2), "overlap": (NO_MORPHING, 0.6), "behind": (NO_STEALING, 0.3), "checkpoint": (OFF, 0.58),
          "plot": (OFF, 0.45), "corners": (OFF, 0.45)}


@dataclass(frozen=True)
class Pattern:
    """One pattern, as arguments of the programs."""

    name: str
    clients: int
    shape: tuple[object, ...]  # for both programs
    more: tuple[object, ...] = ()  # for small_bench alone

    @property
    def place(self) -> str:
        """Returns the place of tailrace's engine."""
        return "thread" if self.name == "overlap" else "core"


def pattern(name: str, clients: int, bytes_: int, piece: int, calls: int, by_block: bool) -> Pattern:
    """Returns the pattern of that name; `clients` and `bytes_` are those of rows."""
    few = max(1, clients // 4)
    if name in FLASH:
        return Pattern(name, few, ("--pattern", name, "--clients", few, *(["--by-block"] if by_block else [])))
    clients, bytes_, piece = {"rows": (clients, bytes_, piece), "overlap": (1, bytes_, 4 * piece),
                              "behind": (few, bytes_ // 4, piece), "tiles": (few, bytes_, piece)}[name]
    shape = ("--pattern", name, "--clients", clients, "--bytes", bytes_, "--piece", piece)
    more = {"rows": ("--list", calls), "tiles": ("--list", 0), "overlap": ("--times", 4)}
    return Pattern(name, clients, shape, more.get(name, ()))


def bars(name: str, runs: Mapping[str, Sequence[Report]], peers: Mapping[str, Sequence[str]]) -> list[Bar]:
    """Returns the bars of a pattern from the runs by way. `peers`: the ways of each MPI."""
    found = []
    on = seconds(runs[ON])
    if name in _TIMES:
        of, bar = _TIMES[name]
        found.append(Bar(f"{name}: time / {of}", "×", ratios(on, seconds(runs[of])), bar))
    if name == "rows":
        for mpi, ways in peers.items():
            best = min(ways, key=lambda way: statistics.median(seconds(runs[way])))
            found.append(Bar(f"{name}: time / {best}, its best", "×", ratios(on, seconds(runs[best])), 1.0,
                             note=f"{mpi}, of {', '.join(ways)}"))
        writes = [run["transfers"] * _BASE / run["file_bytes"] for run in runs[ON]]
        found.append(Bar(f"{name}: writes that reach storage for 64 MiB", "", writes, _MOST_WRITES))
    wrong = [sum(run["wrong_bytes"] for run in of) for of in runs.values()]
    found.append(Bar(f"{name}: bytes that are wrong, of each way", "", wrong, 0, "most"))
    return found


def seconds(runs: Sequence[Report]) -> list[float]:
    """Returns the times until all data were on the device."""
    return [run["synced"] for run in runs]
