"""Measures a machine and a directory: the models' W, req and the copy.

The program `pattern` measures each, and fit.py fits it. W comes from regression (synchronous writes in a
row) and from saturation: blocks handed to tailrace back to back, without the warm-up, once beside a caller that
waits, once beside one that computes, and once with `write`, since computing and copying take memory bandwidth from
the writing. req is the slope over requests that are not waited for. The copy is the one that `write` makes; beside it
there is a memcpy between memory touched before. `tailrace bench pattern` and `tailrace predict --measure` use this.
It knows nothing of the runs that are predicted from it.
"""

from __future__ import annotations

import pathlib
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.models.pipeline import contended

from . import fit, program as programs
from .fit import Fit
from .scratch import Scratch
from .steal import Steal

COUNT = 24  # samples of a measurement
REPEATS = 3  # measurements, of which the median is kept, since other programs may disturb one

_REQUESTS = 200
_REQUEST_BYTES = 4096

# The measurements for each directory: the name here, that of `pattern measure`, and the fit.
_OF_STORAGE: tuple[tuple[str, str, Callable[..., Fit]], ...] = (
    ("write_regression", "regression", fit.regression),
    ("write_saturation", "saturation", fit.saturation),
    ("write_saturation_busy", "saturation-busy", fit.saturation),
    ("write_saturation_copy", "saturation-write", fit.saturation),
)
# The measurements of memory.
_OF_MEMORY = (("write_copy", "write-copy"), ("copy", "copy"))

Progress = Callable[[str], None]  # receives the name of the next measurement


@dataclass(frozen=True)
class Measured:
    """The fits; a slope is in seconds, for all bytes of an iteration."""

    write_regression: Fit  # a synchronous write
    write_saturation: Fit  # a write under load, while the caller waits
    write_saturation_busy: Fit  # a write under load, while the caller computes
    write_saturation_copy: Fit  # a write under load, while the caller copies, and otherwise waits
    write_copy: Fit  # the copy that `write` makes
    copy: Fit  # a warm memcpy
    request: Fit  # handing over one small request
    rounds: tuple[Measured, ...] = ()  # the measurements, of which each fit above is the middle one

    def write(self, compute: float) -> float:
        """Returns W under load, in a program that computes `compute` seconds an iteration."""
        return contended(compute, self.write_saturation.slope, self.write_saturation_busy.slope)

    def write_while_copying(self, compute: float) -> float:
        """Returns the same for a program that also copies with `write`."""
        return copying(self.write(compute), self.write_saturation.slope, self.write_saturation_copy.slope)

    def document(self) -> dict[str, Any]:
        """Returns the fits as a result file has them."""
        return {name: getattr(self, name).as_json() for name in self.__dataclass_fields__ if name != "rounds"}


def copying(write: float, waiting: float, copying_: float) -> float:
    """Converts `write`, W of a program that lends its blocks, to W of one that copies: adds what a copying caller
    added to the W of a waiting one."""
    return write + max(0.0, copying_ - waiting)


class Meter:
    """Measures blocks of `bytes_` in the directories of `scratch`. Several directories stand for devices; W is then
    the slowest one's. `kernel` selects the computation (the program's own if empty)."""

    def __init__(self, scratch: Scratch, bytes_: int, *, count: int, queue_depth: int,
                 program: programs.Program, steal: Steal, kernel: Sequence[str] = ()) -> None:
        scratch.require(len(scratch.directories) * count * bytes_)
        self._scratch, self._bytes, self._count = scratch, bytes_, count
        self._queue_depth, self._program, self._kernel = queue_depth, program, list(kernel)
        self._steal = steal
        self._devices = scratch.of("measure")

    def once(self) -> dict[str, Fit]:
        """Measures everything but req, one thing at a time."""
        fits = {}
        for name, what, method in _OF_STORAGE:
            fits[name] = max((self._fit(what, device, self._bytes, self._count, method) for device in self._devices),
                             key=lambda one: one.slope)
        for name, what in _OF_MEMORY:
            fits[name] = self._fit(what, self._devices[0], self._bytes, self._count, fit.regression)
        return fits

    def request(self) -> Fit:
        """Measures req."""
        return self._fit("req", self._devices[0], min(_REQUEST_BYTES, self._bytes), max(self._count, _REQUESTS),
                         fit.request)

    def _fit(self, what: str, device: pathlib.Path, size: int, samples: int, method: Callable[..., Fit]) -> Fit:
        arguments = ["--dir", str(device), "--bytes", str(size), "--queue-depth", str(self._queue_depth),
                     *self._kernel]
        found = self._steal.least_disturbed(lambda: self._program.measure(what, arguments, samples),
                                            self._scratch.settle)
        try:
            return method(found)
        except ValueError as error:
            raise programs.Failed(f"{self._program.path} measure {what}: {error}") from None


def measure(directories: Sequence[pathlib.Path], bytes_: int, *, count: int = COUNT, repeats: int = REPEATS,
            queue_depth: int = 8, path: pathlib.Path | None = None,
            progress: Progress | None = None) -> Measured:
    """Measures blocks of `bytes_` in `directories`, which are created if needed and left as they were found, by the
    program `path` (default: that of the repository or of the package). Raises program.Failed, a RuntimeError."""
    program = programs.find(path)
    with Scratch(directories) as scratch:
        meter = Meter(scratch, bytes_, count=count, queue_depth=queue_depth, program=program, steal=Steal())
        return measure_by(meter, repeats, progress)


def measure_by(meter: Meter, repeats: int = REPEATS, progress: Progress | None = None) -> Measured:
    """Measures everything several times, in turn; returns, of each, the fit with the median slope."""
    say = progress or (lambda title: None)
    rounds = []
    for number in range(1, repeats + 1):
        say(f"W and the copies, {number} of {repeats}")
        rounds.append(meter.once())
    say("req: submitting requests")
    requests = [meter.request() for _ in range(repeats)]
    each = tuple(Measured(**one, request=request) for one, request in zip(rounds, requests))
    return Measured(**{name: _middle([one[name] for one in rounds]) for name in rounds[0]}, request=_middle(requests),
                    rounds=each)


def _middle(fits: Sequence[Fit]) -> Fit:
    middle = statistics.median_low(one.slope for one in fits)
    return next(one for one in fits if one.slope == middle)
