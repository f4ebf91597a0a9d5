"""What a machine and a directory can do, measured before anything is predicted: the models' W, req and the copy.

Each is measured by the program `pattern` and fitted by tailrace.models.fit: W by regression (synchronous writes in a
row) and by saturation (blocks handed to tailrace back to back, the warm-up dropped; once lent and once by `write`,
whose copies take memory bandwidth from the writing), req as the slope over requests that are not waited for, and a
memcpy between memory touched before. Used by `tailrace bench pattern` and
`tailrace predict --measure`. Fits nothing to what is measured later.
"""

from __future__ import annotations

import pathlib
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailrace.models import fit
from tailrace.models.fit import Fit

from . import program as programs
from .scratch import Scratch

COUNT = 24  # samples of a measurement
REPEATS = 3  # measurements, of which the median is kept: other things that the machine did meanwhile disturb one

_REQUESTS = 200
_REQUEST_BYTES = 4096

Progress = Callable[[str], None]  # told what is measured next


@dataclass(frozen=True)
class Measured:
    """The fits; a slope is in seconds: a write of the bytes, a request, a memcpy of the bytes."""

    write_regression: Fit
    write_saturation: Fit
    write_saturation_copy: Fit  # while the caller copies
    request: Fit
    copy: Fit

    def document(self) -> dict[str, Any]:
        """As a result file has it."""
        return {name: getattr(self, name).as_json()
                for name in ("write_regression", "write_saturation", "write_saturation_copy", "request", "copy")}


def measure(directories: Sequence[pathlib.Path], bytes_: int, *, count: int = COUNT, repeats: int = REPEATS,
            queue_depth: int = 8, program: programs.Program | None = None,
            progress: Progress | None = None) -> Measured:
    """Measures blocks of `bytes_` in `directories`, which are made if need be and left as they were found. Of several
    directories, taken for devices, W is the slowest one's. Raises program.Failed."""
    program = program or programs.find()
    with Scratch(directories) as scratch:
        return measure_in(scratch, bytes_, count=count, repeats=repeats, queue_depth=queue_depth, program=program,
                          progress=progress)


def measure_in(scratch: Scratch, bytes_: int, *, count: int, repeats: int, queue_depth: int,
               program: programs.Program, progress: Progress | None = None) -> Measured:
    """The same, in directories that are there already."""
    scratch.require(len(scratch.directories) * count * bytes_)
    say = progress or (lambda title: None)
    meter = _Meter(scratch, bytes_, count, repeats, queue_depth, program)
    regression, saturation, saturation_copy = meter.writes(say)
    say("req: submitting requests")
    request = meter.typical("req", meter.devices[0], min(_REQUEST_BYTES, bytes_), max(count, _REQUESTS), fit.request)
    say("memcpy")
    copy = meter.typical("copy", meter.devices[0], bytes_, count, fit.regression)
    return Measured(regression, saturation, saturation_copy, request, copy)


def writes_again(before: Measured, scratch: Scratch, bytes_: int, *, count: int, repeats: int, queue_depth: int,
                 program: programs.Program, progress: Progress | None = None) -> Measured:
    """`before` with W measured anew: storage drifts while a sweep runs, and predictions are as good as W is."""
    meter = _Meter(scratch, bytes_, count, repeats, queue_depth, program)
    regression, saturation, saturation_copy = meter.writes(progress or (lambda title: None))
    return replace(before, write_regression=regression, write_saturation=saturation,
                   write_saturation_copy=saturation_copy)


class _Meter:
    def __init__(self, scratch: Scratch, bytes_: int, count: int, repeats: int, queue_depth: int,
                 program: programs.Program) -> None:
        self._scratch, self._bytes, self._count, self._repeats = scratch, bytes_, count, repeats
        self._queue_depth, self._program = queue_depth, program
        self.devices = scratch.of("measure")

    def writes(self, say: Progress) -> tuple[Fit, Fit, Fit]:
        """W by regression, by saturation, and by saturation while the caller copies."""
        say("W by regression: synchronous writes in a row")
        regression = self._slowest("regression", fit.regression)
        say("W by saturation: blocks handed to tailrace back to back")
        return (regression, self._slowest("saturation", fit.saturation),
                self._slowest("saturation-write", fit.saturation))

    def typical(self, what: str, device: pathlib.Path, size: int, samples: int, method: Callable[..., Fit]) -> Fit:
        """The middle one of the repetitions."""
        arguments = ["--dir", str(device), "--bytes", str(size), "--queue-depth", str(self._queue_depth)]
        fits = []
        for _ in range(self._repeats):
            try:
                fits.append(method(self._program.measure(what, arguments, samples)))
            except ValueError as error:
                raise programs.Failed(f"{self._program.path} measure {what}: {error}") from None
            self._scratch.settle()
        middle = statistics.median_low(one.slope for one in fits)
        return next(one for one in fits if one.slope == middle)

    def _slowest(self, what: str, method: Callable[..., Fit]) -> Fit:
        fits = (self.typical(what, device, self._bytes, self._count, method) for device in self.devices)
        return max(fits, key=lambda one: one.slope)
