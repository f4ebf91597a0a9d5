"""Settings of the pattern benchmark."""

import pathlib
from dataclasses import dataclass

from . import measure, writers
from .steal import TRIES


@dataclass(frozen=True)
class Settings:
    """The runs to make."""

    directories: tuple[pathlib.Path, ...] = (pathlib.Path("out/bench"),)
    bytes: int = 64 << 20  # of an iteration, all variables together
    iterations: int = 16
    ratios: tuple[float, ...] = (0.5, 1.0, 2.0)  # C/W
    compute_seconds: float | None = None  # C itself, instead of the ratios
    writers: tuple[str, ...] = writers.DEFAULT
    ablation: bool = False
    kernel: str = "busy"
    threads: int = 1
    memory: str = "heap"
    variables: int = 1
    repeats: int = 5
    warmup: int = 1
    queue_depth: int = 8
    keep: bool = False
    trace: pathlib.Path | None = None
    calibrate_seconds: float = 0.2
    tries: int = TRIES  # most tries of a run that the host disturbs
    measure_count: int = measure.COUNT
    measure_repeats: int = measure.REPEATS
