"""What a machine and a directory can do, measured before anything is predicted: the models' W, req and the copy.

Each is measured by the program `pattern` and fitted by tailrace.models.fit: W by regression (synchronous writes in a
row) and by saturation (blocks handed to tailrace back to back, the warm-up dropped), req as the slope over requests
that are not waited for, and a memcpy between memory touched before. Used by `tailrace bench pattern` and
`tailrace predict --measure`. Fits nothing to what is measured later.
"""

from __future__ import annotations

import pathlib
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    """The four fits; a slope is in seconds: a write of the bytes, a request, a memcpy of the bytes."""

    write_regression: Fit
    write_saturation: Fit
    request: Fit
    copy: Fit

    def document(self) -> dict[str, Any]:
        """As a result file has it."""
        return {name: getattr(self, name).as_json()
                for name in ("write_regression", "write_saturation", "request", "copy")}


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
    devices = scratch.of("measure")

    def typical(what: str, device: pathlib.Path, size: int, samples: int, method: Callable[..., Fit]) -> Fit:
        arguments = ["--dir", str(device), "--bytes", str(size), "--queue-depth", str(queue_depth)]
        fits = []
        for _ in range(repeats):
            try:
                fits.append(method(program.measure(what, arguments, samples)))
            except ValueError as error:
                raise programs.Failed(f"{program.path} measure {what}: {error}") from None
            scratch.settle()
        middle = statistics.median_low(one.slope for one in fits)
        return next(one for one in fits if one.slope == middle)

    def slowest(what: str, method: Callable[..., Fit]) -> Fit:
        return max((typical(what, device, bytes_, count, method) for device in devices), key=lambda one: one.slope)

    say("W by regression: synchronous writes in a row")
    regression = slowest("regression", fit.regression)
    say("W by saturation: blocks handed to tailrace back to back")
    saturation = slowest("saturation", fit.saturation)
    say("req: submitting requests")
    request = typical("req", devices[0], min(_REQUEST_BYTES, bytes_), max(count, _REQUESTS), fit.request)
    say("memcpy")
    copy = typical("copy", devices[0], bytes_, count, fit.regression)
    return Measured(regression, saturation, request, copy)
