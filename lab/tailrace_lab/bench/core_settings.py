"""Settings of the benchmark of place core."""

import pathlib
from dataclasses import dataclass

from .steal import TRIES

PARTS = ("open", "places", "computing", "copy", "calls", "handover", "filters", "restart")


@dataclass(frozen=True)
class Settings:
    """The measurements to make."""

    directory: pathlib.Path = pathlib.Path("out/bench")
    parts: tuple[str, ...] = PARTS
    repeats: int = 3
    opens: int = 8
    open_bytes: int = 64 << 20  # of a block after `open`; the budget is four times as large
    open_compute: float = 0.2  # seconds before each hand-over
    place_bytes: int = 64 << 20  # of a block in places core and thread
    place_iterations: int = 12
    place_rounds: int = 9
    computing_bytes: int = 16 << 20  # of a block of each client, where computing is compared
    computing_iterations: int = 48
    copy_bytes: int = 64 << 20
    copies: int = 20
    calls: int = 400
    block: int = 16 << 20  # bytes of a block, for handing over and for filters
    iterations: int = 64
    load_bytes: int = 512 << 20
    filter_rounds: int = 5
    filter_seconds: float = 2.0  # of a run
    kills: int = 6
    kill_after: float = 1.0  # average seconds from one kill to the next
    processes: int = 4
    seed: int = 1
    tries: int = TRIES  # most tries of a run that the host disturbs
