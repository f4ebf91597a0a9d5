"""Finds the constants of the models from measurements: straight lines through cumulated times.

A sample is (n, seconds): the time that n writes, n requests, or n copies took together. The slope of the line is the
time of one, the intercept the cost of the beginning, and R² how well a line describes the samples (Sid Lakhdar 2017
§3.2.2, §4.1). It only fits; `tailrace_lab.bench.measure` measures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Leading samples that the saturation method omits, as Sid Lakhdar 2017 §4.1.2 does.
WARM_UP = 2

# Writes whose ends are closer than this share of the mean interval count as ending together.
_TOGETHER = 0.1


@dataclass(frozen=True)
class Fit:
    """seconds ≈ slope·n + intercept."""

    slope: float  #: seconds for one
    intercept: float  #: seconds, spent once
    r2: float  #: coefficient of determination; 1 if the samples that count lie on the line
    dropped: int  #: omitted leading samples
    samples: tuple[tuple[float, float], ...]  #: all (n, cumulated seconds), including the omitted ones

    def as_json(self) -> dict[str, Any]:
        """Returns the fit as result files have it."""
        return {"seconds": self.slope, "intercept": self.intercept, "r2": self.r2, "dropped": self.dropped,
                "samples": [list(sample) for sample in self.samples]}


def regression(samples: Iterable[Sequence[float]], drop: int = 0) -> Fit:
    """Fits the least-squares line through all samples but the first `drop`. Its slope, in seconds, is W of model 1 if
    the samples are synchronous writes. Source: Sid Lakhdar 2017 §4.1.1. At least two samples must remain."""
    points = _finite(samples)
    return _line(points, drop, points[max(0, drop):])


def saturation(samples: Iterable[Sequence[float]], drop: int = WARM_UP) -> Fit:
    """Fits writes that flood the device, without the warm-up. Its slope, in seconds, is W_perturbation of model 2.
    Source: Sid Lakhdar 2017 §3.2.2 and §4.1.2.

    Under load writes end in bursts, and a line through all points of a staircase is flatter than the staircase. So of
    writes that ended together only the last counts, by whose end all of them were written (own; docs/models.md).
    Decreasing times do not belong to one flood, but to one for each n, and all count."""
    points = _finite(samples)
    kept = points[max(0, drop):]
    gaps = [after[1] - before[1] for before, after in zip(kept, kept[1:])]
    if gaps and min(gaps) >= 0:
        together = _TOGETHER * sum(gaps) / len(gaps)
        kept = tuple(point for point, gap in zip(kept, [*gaps, math.inf]) if gap > together)
    return _line(points, drop, kept)


def request(samples: Iterable[Sequence[float]]) -> Fit:
    """Fits requests that are only handed over, as `regression` does. Its slope, in seconds, is req of model 2.
    Source: Sid Lakhdar 2017 §3.2.2 and §4.1.2."""
    return regression(samples)


def _finite(samples: Iterable[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    points = tuple((float(count), float(seconds)) for count, seconds in samples)
    if not all(math.isfinite(value) for point in points for value in point):
        raise ValueError("expected samples of finite numbers, found others")
    return points


def _line(points: tuple[tuple[float, float], ...], drop: int, kept: Sequence[tuple[float, float]]) -> Fit:
    """Fits a line through the points that are kept."""
    if drop < 0 or len({count for count, _ in kept}) < 2:
        raise ValueError(f"expected at least 2 samples that ended apart, after the {drop} dropped, found {len(kept)} "
                         f"of {len(points)}")
    x, y = np.array(kept).T
    # About the means: the sums of squares stay exact, however far the counts are from zero.
    dx, dy = x - x.mean(), y - y.mean()
    slope = float(dx @ dy / (dx @ dx))
    residual, total = float(((dy - slope * dx) ** 2).sum()), float(dy @ dy)
    r2 = 1 - residual / total if total > 0 else 1.0
    return Fit(slope, float(y.mean() - slope * x.mean()), r2, drop, points)
