"""What `tailrace bench small` compares: the patterns, the ways they are written in, and the bars. Pure.

The patterns are those of seed 004, §5.4 (FFBench, Flash-I/O), and MPI-Tile-I/O's; bench/small/access_pattern.h says
which pieces they have.
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
# MPI has no word for writes that overlap, and none for a read that follows a write of which others know nothing.
COLLECTIVE = ("rows", *FLASH, "tiles")

ON, OFF, PWRITE, LIMIT = "compactor on", "compactor off", "pwrite", "limit"
NO_MORPHING, NO_STEALING = "without morphing", "without stealing"
_UNMERGED = "enabled: false, overwrite: false, read_after: written"
# What the configuration's `merge` has.
MERGE = {ON: "", OFF: _UNMERGED, "without joining": "largest: 4 KiB", NO_MORPHING: "overwrite: false",
         NO_STEALING: "read_after: written", "without gathering": "count: 1", "gathering without a delay": "delay: 0"}

_BASE = 64 << 20  # the writes that reach storage are counted for so many bytes
_MOST_WRITES = 32

# Time with / time of another way, at most.
_TIMES = {"rows": (OFF, 0.2), "overlap": (NO_MORPHING, 0.6), "behind": (NO_STEALING, 0.3), "checkpoint": (OFF, 0.58),
          "plot": (OFF, 0.45), "corners": (OFF, 0.45)}


@dataclass(frozen=True)
class Pattern:
    """One of them, as the programs are told."""

    name: str
    clients: int
    shape: tuple[object, ...]  # for both programs
    more: tuple[object, ...] = ()  # for small_bench alone

    @property
    def place(self) -> str:
        """Where tailrace's engine runs."""
        return "thread" if self.name == "overlap" else "core"


def pattern(name: str, clients: int, bytes_: int, piece: int, calls: int, by_block: bool) -> Pattern:
    """The pattern of that name; `clients` and `bytes_` are those of rows."""
    few = max(1, clients // 4)
    if name in FLASH:
        return Pattern(name, few, ("--pattern", name, "--clients", few, *(["--by-block"] if by_block else [])))
    clients, bytes_, piece = {"rows": (clients, bytes_, piece), "overlap": (1, bytes_, 4 * piece),
                              "behind": (few, bytes_ // 4, piece), "tiles": (few, bytes_, piece)}[name]
    shape = ("--pattern", name, "--clients", clients, "--bytes", bytes_, "--piece", piece)
    more = {"rows": ("--list", calls), "tiles": ("--list", 0), "overlap": ("--times", 4)}
    return Pattern(name, clients, shape, more.get(name, ()))


def bars(name: str, runs: Mapping[str, Sequence[Report]], peers: Mapping[str, Sequence[str]]) -> list[Bar]:
    """What the pattern is to keep, of the runs by way; `peers`: the ways of each MPI."""
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
    """Until all was on the device."""
    return [run["synced"] for run in runs]
