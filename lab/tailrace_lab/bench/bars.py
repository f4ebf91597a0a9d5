"""Bar: measured values and the limit that they must keep. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bar:
    """Several values of one quantity; lower is better. Without a bar they are only for comparison."""

    name: str
    unit: str  # "×", "µs", "ms", "s", or "" for counts
    values: Sequence[float]
    bar: float | None = None
    judge: str = "median"  # or "most": the value that must keep the bar
    note: str = ""

    @property
    def median(self) -> float:
        """Returns the median of the values."""
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        """Returns True if the bar is kept; None if there is none."""
        if self.bar is None:
            return None
        return (self.median if self.judge == "median" else max(self.values)) <= self.bar

    @property
    def above(self) -> int:
        """Returns how many values are above the bar."""
        return sum(value > self.bar for value in self.values) if self.bar is not None else 0

    def document(self) -> dict[str, Any]:
        """Returns the bar as a file has it."""
        return {"name": self.name, "unit": self.unit, "median": self.median, "least": min(self.values),
                "most": max(self.values), "count": len(self.values), "above": self.above, "bar": self.bar,
                "judge": self.judge, "met": self.met, "note": self.note}


def scaled(values: Sequence[float], factor: float) -> list[float]:
    """Returns the values in another unit."""
    return [factor * value for value in values]


def ratios(of: Sequence[float], to: Sequence[float]) -> list[float]:
    """Returns the quotients of the pairs."""
    return [a / b for a, b in zip(of, to)]


def digits(value: float) -> str:
    """Returns the value with three digits, for people."""
    return f"{value:.0f}" if abs(value) >= 100 or value == 0 else f"{value:.3g}"
