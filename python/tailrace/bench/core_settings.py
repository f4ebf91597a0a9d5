"""Settings of the benchmark of place core."""

import pathlib
from dataclasses import dataclass

from .steal import TRIES

PARTS = ("open", "copy", "calls", "handover", "filters", "restart")


@dataclass(frozen=True)
class Settings:
    """What is measured."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    parts: tuple[str, ...] = PARTS
    repeats: int = 3
    opens: int = 8
    open_bytes: int = 64 << 20  # of a block after it; the budget is four times as large
    open_compute: float = 0.2  # seconds before each hand-over
    copy_bytes: int = 64 << 20
    copies: int = 20
    calls: int = 400
    block: int = 16 << 20  # of handing over, and of filters
    iterations: int = 64
    load_bytes: int = 512 << 20
    filter_rounds: int = 5
    filter_seconds: float = 2.0  # of a run
    kills: int = 6
    kill_after: float = 1.0  # seconds from one to the next, on average
    processes: int = 4
    seed: int = 1
    tries: int = TRIES  # of a run that the host disturbs
