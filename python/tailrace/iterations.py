"""How busy the writer was in each of the latest iterations: the core of place `core`, or the writer's thread.

Reads the list "iterations" of statistics (docs/formats/measurements.md) and of `tailrace-core --status`, checks it,
and summarises it in a sentence. Prints nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

OUTCOMES = ("open", "published", "failed", "dropped", "empty")
_TIMES = ("busy", "writing", "filtering", "waited")
_COUNTS = ("bytes_taken", "bytes_stored", "chunks_filtered", "chunks_relaxed", "chunks_skipped")
_MOMENTS = ("ended", "left", "period")


class Malformed(ValueError):
    """A fault in a list of iterations: where, what was found, what was expected."""


@dataclass(frozen=True)
class Iteration:
    """One iteration. Times are in seconds, of the machine's clock if they are moments; None: not known yet."""

    number: int
    outcome: str
    begun: float
    ended: float | None
    left: float | None
    period: float | None  # until the next one began
    busy: float  # of that, with transfers under way, or chunks in the filters
    writing: float
    filtering: float
    waited: float  # of the program, for memory
    bytes_taken: int
    bytes_stored: int
    chunks_filtered: int
    chunks_relaxed: int
    chunks_skipped: int

    @property
    def share(self) -> float | None:
        """Returns the share of its period in which the writer was busy, 0 to 1."""
        return min(1.0, self.busy / self.period) if self.period else None

    @property
    def late(self) -> float | None:
        """Returns the time from its end until it was published."""
        if self.ended is None or self.left is None or self.outcome != "published":
            return None
        return max(0.0, self.left - self.ended)


def read(document: Any, where: str = "iterations") -> list[Iteration]:
    """Reads the list from JSON. Raises Malformed."""
    if not isinstance(document, list):
        raise Malformed(f"{where}: found {_found(document)}, expected a list")
    return [_one(one, f"{where}[{number}]") for number, one in enumerate(document)]


def _one(one: Any, where: str) -> Iteration:
    if not isinstance(one, dict):
        raise Malformed(f"{where}: found {_found(one)}, expected an object")
    if one.get("outcome") not in OUTCOMES:
        raise Malformed(f"{where}.outcome: found {_found(one.get('outcome'))}, expected one of {', '.join(OUTCOMES)}")
    for name in ("iteration", "begun", *_TIMES, *_COUNTS, *(name for name in _MOMENTS if one.get(name) is not None)):
        value = one.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e30:
            raise Malformed(f"{where}.{name}: found {_found(value)}, expected a number of 0 or more")
    return Iteration(int(one["iteration"]), one["outcome"], one["begun"], *(one.get(name) for name in _MOMENTS),
                     *(one[name] for name in _TIMES), *(int(one[name]) for name in _COUNTS))


def _found(value: Any) -> str:
    return "nothing" if value is None else repr(value)[:40]


def summary(iterations: Sequence[Iteration], who: str) -> str:
    """Returns "the core was busy 34 % of an iteration, 61 % the worst (iteration 12)"; "" if no iteration has
    passed."""
    passed = [one for one in iterations if one.share is not None]
    if not passed:
        return ""
    worst = max(passed, key=lambda one: one.share or 0.0)
    mean = sum(one.busy for one in passed) / sum(one.period or 0.0 for one in passed)
    return (f"{who} was busy {100 * min(1.0, mean):.0f} % of an iteration, {100 * (worst.share or 0.0):.0f} % the "
            f"worst (iteration {worst.number})")


def whose(description: str) -> str:
    """Returns the name of the writer, from the text of `tailrace_describe`."""
    return "the core" if description.startswith("place core") else "the writer"
