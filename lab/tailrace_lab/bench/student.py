"""Student's t distribution: the interval of confidence of the mean of a few values. Pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def half_interval(values: Sequence[float], confidence: float = 0.997) -> float:
    """Returns half of the width of the interval around the mean; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    return quantile(confidence, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def quantile(confidence: float, degrees: int) -> float:
    """Returns the t for which -t … t has this probability."""
    low, high = 0.0, 1.0
    while _within(high, degrees) < confidence:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < confidence else (low, middle)
    return (low + high) / 2


def _within(limit: float, degrees: int) -> float:
    """Integrates the density from -limit to limit by Simpson's rule."""
    log_factor = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    factor = math.exp(log_factor) / math.sqrt(degrees * math.pi)
    steps = 2000
    width = limit / steps

    def density(at: float) -> float:
        return factor * (1 + at * at / degrees) ** (-(degrees + 1) / 2)

    inner = sum((4 if step % 2 else 2) * density(step * width) for step in range(1, steps))
    return 2 * width / 3 * (density(0) + inner + density(limit))
