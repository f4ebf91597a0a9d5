"""Runs that a host disturbed are repeated.

On a virtual machine the host may give the processors to others for a while ("steal"), and a run that was hit says
nothing of what it measured. How much was taken is known from /proc/stat, whatever the run's own figures are: so a run
from which more than a hundredth of its time was taken is done again, a few times at most, and the one that lost least
is kept. What was repeated, and what remained disturbed, is counted and told. On a machine of one's own nothing is
ever taken, and nothing repeated. Figures of the runs play no part in it.
"""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

LIMIT = 0.01  # of a run's time on one processor
TRIES = 6
KEYS = ("limit", "tries", "runs", "repeated", "disturbed")  # of a result file's "steal"

_T = TypeVar("_T")


def stolen_seconds() -> float:
    """What the host has taken from all processors together since the machine began; 0 where that is not known."""
    try:
        first = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
        return int(first[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


class Steal:
    """Does runs, again if they were disturbed, and counts."""

    def __init__(self, *, tries: int = TRIES, stolen: Callable[[], float] | None = None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._tries = tries  # of a run, at most
        self._stolen = stolen or stolen_seconds
        self._clock = clock
        self.runs = 0
        self.repeated = 0  # runs done more than once
        self.disturbed = 0  # runs of which no try was undisturbed

    def least_disturbed(self, run: Callable[[], _T], tidy: Callable[[], None] = lambda: None) -> _T:
        """What `run` gives, of the try from which least was taken; what it raises, at once. After each try, even one
        that raised, `tidy` is called, whose time is nobody's."""
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
        """As a result file has it."""
        return {"limit": LIMIT, "tries": self._tries, "runs": self.runs, "repeated": self.repeated,
                "disturbed": self.disturbed}

    def _once(self, run: Callable[[], _T], tidy: Callable[[], None]) -> tuple[float, _T]:
        began, before = self._clock(), self._stolen()
        try:
            answer = run()
            lasted = self._clock() - began
            taken = self._stolen() - before
        finally:
            tidy()
        return (taken / lasted if lasted > 0 else 0.0), answer


def told(document: Mapping[str, Any]) -> list[str]:
    """What a reader should know of the runs that a result file's "steal" speaks of."""
    if not document.get("repeated") and not document.get("disturbed"):
        return []
    text = (f"{document['repeated']} of {document['runs']} runs were done again, since the machine's host took the "
            f"processors away meanwhile (more than {100 * document['limit']:g} % of the time; at most "
            f"{document['tries']} tries)")
    left = document["disturbed"]
    return [text + (f", and {left} of them had no undisturbed try." if left else ".")]
