"""The bars of `tailrace bench mpiio`. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from . import mpiio_patterns as patterns
from .bars import Bar, ratios, scaled
from .mpiio_ways import AUTO, TUNE, Way
from .program import Report

Runs = Mapping[Way, Sequence[Report]]
Time = Callable[[Report], float]

_BANDWIDTH = 0.94  # of the better MPI's, for one piece a rank
_TUNED = 1.05  # most time of what trials have shown, by that of the fastest algorithm
_SLOWER = 1.1  # most time of `auto`, by the better MPI's
_OPEN_CLOSE = 1.3  # most time to open and close a file, by that of the same MPI
_NOT_HIDDEN = 0.1
_SLOWED = {"computing": 0.03}  # most; of the other patterns:
_SLOWED_SMALL = 0.05
_COPIES = {"computing": 1.3}
_COPIES_SMALL = 2.0
_VIEW = 0.1  # seconds
_EXTENT = 150.0  # ns


def better(runs: Runs, time: Time = patterns.total) -> Way | None:
    """Returns the MPI that was faster by itself, told nothing; None if there is none."""
    plain = [way for way in runs if way.is_plain]
    return min(plain, key=lambda way: statistics.median(map(time, runs[way])), default=None)


def by_better(runs: Runs, time: Time = patterns.total) -> dict[Way, list[float]]:
    """Returns the times by those of the better MPI, round by round."""
    best = better(runs, time)
    if best is None:
        return {}
    times = [time(run) for run in runs[best]]
    return {way: ratios([time(run) for run in of], times) for way, of in runs.items()}


def of_pattern(name: str, runs: Runs) -> list[Bar]:
    """Returns the bars of a pattern from its runs without computing."""
    if name in patterns.COMPUTING:  # the pattern itself is measured by its own name
        return _wrong(name, runs)
    found = _extents(runs) if name == "extents" else _times(name, runs)
    return found + _tuned(name, runs) + _opens(name, runs) + _reading(name, runs) + _wrong(name, runs)


def of_computing(name: str, blocking: Runs, beside: Runs, nonblocking: Runs) -> list[Bar]:
    """Returns the bars of the runs of a pattern that compute; `blocking` are those that do not."""
    found = []
    for way, runs in nonblocking.items():
        ours = bool(way.place)
        visible = [1 - patterns.hidden(run, alone) for run, alone in zip(runs, blocking[way])]
        read = [1 - patterns.reading_hidden(run, alone) for run, alone in zip(runs, blocking[way])]
        found += [Bar(f"{name}: share of the write that is not hidden, {way.title}", "×", visible,
                      _NOT_HIDDEN if ours else None),
                  Bar(f"{name}: slower by, {way.title}", "×", [patterns.slowed(run) for run in runs],
                      _SLOWED.get(name, _SLOWED_SMALL) if ours else None),
                  Bar(f"{name}: share of the read that is not hidden, {way.title}", "×", read,
                      _NOT_HIDDEN if ours else None)]
    for way, runs in beside.items():
        found.append(Bar(f"{name}: waiting in write_all / a memcpy, {way.title}", "×",
                         [patterns.waiting_by_copy(run) for run in runs],
                         _COPIES.get(name, _COPIES_SMALL) if way.place else None))
    return found + _wrong(f"{name}, beside the writes", beside) + _wrong(f"{name}, iwrite_all", nonblocking)


def _wrong(name: str, runs: Runs) -> list[Bar]:
    wrong = [sum(run["wrong_words"] for run in of) for way, of in runs.items() if way.place]
    return [Bar(f"{name}: words that are wrong, of each way", "", wrong, 0, "most")] if wrong else []


def _times(name: str, runs: Runs) -> list[Bar]:
    best = better(runs)
    found = []
    for way, values in by_better(runs).items():
        if not way.place or best is None:
            continue
        limit = 1 / _BANDWIDTH if name == "contiguous" else _SLOWER if way.collective == AUTO else None
        found.append(Bar(f"{name}: time / {best.title}, {way.title}", "×", values, limit))
    return found


def _tuned(name: str, runs: Runs) -> list[Bar]:
    found = []
    for way, of in runs.items():
        beside = [each for each in runs if (each.place, each.mpi) == (way.place, way.mpi)]
        others = [each for each in beside if each.collective != TUNE]
        if way.collective != TUNE or not others:
            continue
        best = min(others, key=lambda other: statistics.median(map(patterns.total, runs[other])))
        values = ratios(list(map(patterns.total, of)), list(map(patterns.total, runs[best])))
        found.append(Bar(f"{name}: time / {best.title}, {way.title}", "×", values, _TUNED))
    return found


def _opens(name: str, runs: Runs) -> list[Bar]:
    if not all(patterns.open_close(run) for of in runs.values() for run in of):
        return []
    found = []
    for way, of in runs.items():
        alone = runs.get(Way(way.mpi), [])
        if way.place and alone:
            values = ratios([patterns.open_close(run) for run in of], [patterns.open_close(run) for run in alone])
            found.append(Bar(f"{name}: time to open and close a small file / the MPI alone, {way.title}", "×", values,
                             _OPEN_CLOSE))
    return found


def _reading(name: str, runs: Runs) -> list[Bar]:
    best = better(runs, patterns.reading)
    if best is None or not all(patterns.reading(run) for of in runs.values() for run in of):
        return []
    return [Bar(f"{name}: time to read / {best.title}, {way.title}", "×", values,
                _SLOWER if way.collective == AUTO else None)
            for way, values in by_better(runs, patterns.reading).items() if way.place]


def _extents(runs: Runs) -> list[Bar]:
    found = []
    for way, of in runs.items():
        ours = bool(way.place)
        found += [Bar(f"extents: setting the view, {way.title}", "s", [run["seconds_view"] for run in of],
                      _VIEW if ours else None),
                  Bar(f"extents: an extent in the call, beside the copying, {way.title}", "ns",
                      scaled([patterns.extent_seconds(run) for run in of], 1e9), _EXTENT if ours else None)]
    return found
