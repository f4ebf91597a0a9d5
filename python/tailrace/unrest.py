"""How busy the machine was with other things while something was measured: the processor time that its host took
("steal"), and the load.

The demonstration and the laboratory show both where they doubt their figures. This reads /proc/stat and the load
average, and judges no measurement.
"""

from __future__ import annotations

import os
import pathlib
import time
from dataclasses import dataclass

LIMIT = 0.01  # of the processors' time: a measurement from which the host took more is disturbed
ADVICE = "Repeat it on a quiet machine"


def stolen_seconds() -> float:
    """Returns the time that the host has taken from all processors since boot; 0 if that is not known."""
    try:
        first = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
        return int(first[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


@dataclass(frozen=True)
class Unrest:
    """What disturbed a measurement."""

    stolen: float  # share of the processors' time that the machine's host took, 0 to 1
    load_before: float  # the load average of the minute before; only this has nothing of the measured program
    load_after: float  # that of the last minute
    processors: int

    @property
    def busy(self) -> bool:
        """Returns True if the figures alone show it. The load must exceed what building tailrace leaves behind, and
        what one measured program with its writer adds."""
        return self.stolen > LIMIT or min(self.load_before, self.load_after) > self.processors + 1

    def said(self) -> str:
        """Returns it as a part of a sentence."""
        return (f"the machine's host took {100 * self.stolen:.1f} % of the processors' time, and the load was "
                f"{self.load_before:.1f} before and {self.load_after:.1f} after, on {self.processors} processors")


class Watch:
    """Watches a measurement, from here on."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stolen = stolen_seconds()
        self._load = _load()

    def seen(self) -> Unrest:
        """Returns what has disturbed it until now."""
        processors = os.cpu_count() or 1
        lasted = processors * (time.monotonic() - self._began)
        stolen = (stolen_seconds() - self._stolen) / lasted if lasted > 0 else 0.0
        return Unrest(min(1.0, max(0.0, stolen)), self._load, _load(), processors)


def _load() -> float:
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0
