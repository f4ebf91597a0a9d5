"""Repeats runs that a host disturbed.

On a virtual machine the host may give the processors to others for a while ("steal"), and the figures of a disturbed
run mean nothing. /proc/stat reports how much was taken, independently of the run's own figures. So a run that lost
more than a hundredth of its time is repeated, a few times at most, and the try that lost least is kept. Repeated
runs, and those that remained disturbed, are counted and reported. A physical machine loses nothing, so nothing is
repeated. The runs' own figures play no part.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tailrace.unrest import ADVICE, LIMIT, Unrest, Watch, stolen_seconds

TRIES = 6
KEYS = ("limit", "tries", "runs", "repeated", "disturbed")  # in a result file's "steal"
UNREST = tuple(field.name for field in dataclasses.fields(Unrest))  # there too, but not in older files

_T = TypeVar("_T")


class Steal:
    """Makes runs, repeats disturbed ones, and counts both."""

    def __init__(self, *, tries: int = TRIES, stolen: Callable[[], float] | None = None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._tries = tries  # most tries of a run
        self._stolen = stolen or stolen_seconds
        self._clock = clock
        self._watch = Watch()
        self.runs = 0
        self.repeated = 0  # runs done more than once
        self.disturbed = 0  # runs without an undisturbed try

    def least_disturbed(self, run: Callable[[], _T], tidy: Callable[[], None] = lambda: None) -> _T:
        """Returns what `run` returns in the least disturbed try; passes its exceptions on at once. Calls `tidy` after
        each try, even one that raised; its time does not count."""
        self.runs += 1
        taken, best = self._once(run, tidy)
        tries = 1
        while taken > LIMIT and tries < self._tries:
            tries += 1
            again, answer = self._once(run, tidy)
            if again < taken:
                taken, best = again, answer
        self.repeated += tries > 1
        self.disturbed += taken > LIMIT
        return best

    def document(self) -> dict[str, Any]:
        """Returns the counts, and what disturbed the machine since this was made, as a result file has them."""
        return {"limit": LIMIT, "tries": self._tries, "runs": self.runs, "repeated": self.repeated,
                "disturbed": self.disturbed, **dataclasses.asdict(self._watch.seen())}

    def _once(self, run: Callable[[], _T], tidy: Callable[[], None]) -> tuple[float, _T]:
        began, before = self._clock(), self._stolen()
        try:
            answer = run()
            lasted = self._clock() - began
            taken = self._stolen() - before
        finally:
            tidy()
        return (taken / lasted if lasted > 0 else 0.0), answer


def keys(document: Mapping[str, Any]) -> list[str]:
    """Returns the keys that a result file's "steal" must have, and those of UNREST that it has; all are numbers."""
    return [*KEYS, *(key for key in UNREST if key in document)]


def unrest(document: Mapping[str, Any]) -> str:
    """Returns what disturbed the machine, in parentheses after a space; "" if the "steal" of a file lacks that."""
    if not all(key in document for key in UNREST):
        return ""
    return f" ({Unrest(*(document[key] for key in UNREST)).said()})"


def told(document: Mapping[str, Any]) -> list[str]:
    """Returns notes for the reader on the runs that a result file's "steal" describes."""
    if not document.get("repeated") and not document.get("disturbed"):
        return []
    text = (f"{document['repeated']} of {document['runs']} runs were done again, since the machine's host took the "
            f"processors away meanwhile (more than {100 * document['limit']:g} % of the time; at most "
            f"{document['tries']} tries)")
    left = document["disturbed"]
    text += (f", and {left} of them had no undisturbed try" if left else "") + unrest(document)
    return [f"{text}. {ADVICE}." if left else f"{text}."]
