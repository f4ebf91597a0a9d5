"""Advises on the place: predicted totals of all places, the advice in one sentence, and where it would change.

It combines `pipeline` and `core` for one program on one machine. The synchronous program pays W as a synchronous
writer does, the others W as measured under load. It only compares: it measures nothing and prints nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from . import core, pipeline

#: Below this share of the synchronous time, a change of the program is not advised.
WORTHWHILE = 0.05

_MOST_CORES = 1 << 16
_SPAN = 100  # crossovers are sought for C/W from 1/100 to 100


@dataclass(frozen=True)
class Setting:
    """One program on one machine; times in seconds for an iteration."""

    n: int  #: iterations
    c: float  #: computing without output
    w: float  #: writing by one device under load (W_perturbation)
    sync_w: float | None = None  #: writing synchronously; None: `w`
    copy_w: float | None = None  #: writing by one device while the caller copies; None: `w`
    req: float = 0.0  #: handing one block over
    copy: float = 0.0  #: copying all bytes of an iteration with `write`
    devices: int = 1  #: independent devices; an iteration's file is on one of them
    variables: int = 1  #: blocks of an iteration, each handed over when it is computed
    slowdown: float = 0.0  #: the share by which computing is slower beside a writer thread
    cores: int | None = None  #: of the node, for place core
    c_ded: float | None = None  #: computing on one core less; None: perfect scaling
    w_ded: float | None = None  #: writing by the dedicated core; None: `w`

    @property
    def synchronous_w(self) -> float:
        """Returns W of the synchronous program, in seconds."""
        return self.w if self.sync_w is None else self.sync_w

    @property
    def copying_w(self) -> float:
        """Returns W of the writer while the caller copies, in seconds."""
        return self.w if self.copy_w is None else self.copy_w

    @property
    def dedicated_w(self) -> float:
        """Returns W of the dedicated core, by one device, in seconds."""
        return self.w if self.w_ded is None else self.w_ded

    @property
    def dedicated(self) -> core.Inequality | None:
        """Returns Damaris' inequality, if a core can be dedicated."""
        if self.cores is None or self.cores < 2:
            return None
        return core.dedicated(self.c, self.synchronous_w, self.cores, c_ded=self.c_ded,
                              w_ded=self.dedicated_w / self.devices)

    @property
    def threaded(self) -> core.Inequality:
        """Returns the same for place thread with alloc and commit."""
        return core.threaded(self.c, self.synchronous_w, w=self.w / self.devices, slowdown=self.slowdown,
                             req=self.variables * self.req)

    def scaled(self, c: float = 1.0, w: float = 1.0) -> Setting:
        """Returns the same program with computing times `c`, and bytes (writing and copying) times `w`."""
        def times(value: float | None, factor: float) -> float | None:
            return None if value is None else value * factor

        return replace(self, c=self.c * c, c_ded=times(self.c_ded, c), w=self.w * w, sync_w=times(self.sync_w, w),
                       copy_w=times(self.copy_w, w), w_ded=times(self.w_ded, w), copy=self.copy * w)


@dataclass(frozen=True)
class Prediction:
    """One way to write; times in seconds, over all iterations."""

    place: str  #: "sync", "thread" or "core"
    verb: str  #: "alloc" (no copy) or "write" (one); "" for sync
    seconds: float  #: in total
    waiting: float  #: in calls for output, including copies and the final flush
    gain: float  #: saved share of the synchronous time; below zero, lost
    to_limit: float  #: × the limit, which has the undisturbed program compute on all its cores

    @property
    def name(self) -> str:
        """Returns the name for sentences."""
        verb = {"": "", "alloc": " with alloc and commit", "write": " with write"}[self.verb]
        return "the synchronous program" if self.place == "sync" else f"place {self.place}{verb}"


@dataclass(frozen=True)
class Advice:
    """Says which place to take, and by how much it is ahead."""

    predictions: tuple[Prediction, ...]  #: the synchronous one first
    best: Prediction  #: the fastest
    take: Prediction  #: the advised one: synchronous unless the fastest saves WORTHWHILE or more
    next_best: Prediction | None  #: the fastest of the others
    limit: float  #: seconds that no schedule can beat

    @property
    def margin(self) -> float:
        """Returns the share by which the next best takes longer than the fastest."""
        return self.next_best.seconds / self.best.seconds - 1 if self.next_best else 0.0


@dataclass(frozen=True)
class Crossover:
    """A point at which the choice changes, or the part that bounds the program."""

    axis: str  #: "C/W", "bytes" (a factor on the bytes of an iteration), "cores" or "slowdown" (a share)
    value: float
    meaning: str  #: what holds from there upwards


def predict(setting: Setting) -> list[Prediction]:
    """Predicts sync, thread with alloc and with write, and core if the node has more than one."""
    n, reference = setting.n, pipeline.sync(setting.n, setting.c, setting.synchronous_w)
    best = _limit(setting)
    shape = {"req": setting.req, "devices": setting.devices, "variables": setting.variables}
    disturbed = setting.c * (1 + setting.slowdown)
    rows = [("sync", "", setting.c, reference),
            ("thread", "alloc", disturbed, pipeline.pipelined(n, disturbed, setting.w, **shape)),
            ("thread", "write", disturbed, pipeline.pipelined(n, disturbed, setting.copying_w, copy=setting.copy,
                                                                **shape))]
    ded = setting.dedicated
    if ded is not None:
        rows.append(("core", "alloc", ded.compute, core.total(n, ded.compute, setting.dedicated_w, **shape)))
    return [Prediction(place, verb, seconds, seconds - n * c, pipeline.gain(reference, seconds),
                       seconds / best if best > 0 else math.inf) for place, verb, c, seconds in rows]


def intervals(settings: Sequence[Setting]) -> dict[tuple[str, str], tuple[float, float]]:
    """By place and verb, the least and the most seconds that are predicted for settings which differ as their
    measurements did."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for setting in settings:
        for one in predict(setting):
            low, high = found.get((one.place, one.verb), (math.inf, -math.inf))
            found[one.place, one.verb] = min(low, one.seconds), max(high, one.seconds)
    return found


def advise(setting: Setting, places: tuple[str, ...] = ("sync", "thread", "core")) -> Advice:
    """Returns the fastest of the allowed places; the synchronous one if no other saves WORTHWHILE of its time. Of
    equals, takes the one that needs fewer changes."""
    predictions = [one for one in predict(setting) if one.place == "sync" or one.place in places]
    best = _quickest(predictions)
    take = best if best.gain >= WORTHWHILE else predictions[0]
    others = [one for one in predictions if one is not best]
    return Advice(tuple(predictions), best, take, _quickest(others) if others else None, _limit(setting))


def sentence(advice: Advice, time: Callable[[float], str] = "{:.4g} s".format) -> str:
    """Returns the advice in one sentence with its margin; `time` formats seconds."""
    best, synchronous, following = advice.best, advice.predictions[0], advice.next_best
    if advice.take is best and best is not synchronous:
        text = (f"Use {best.name}: {time(best.seconds)} instead of {time(synchronous.seconds)}, "
                f"{_percent(best.gain)} less than synchronously, at {best.to_limit:.2f} × the limit")
        if following is not None:
            text += f"; the next best, {following.name}, would take {_longer(advice.margin)}"
        return text + "."
    if best is synchronous:
        if following is None:
            return f"Stay synchronous: {time(best.seconds)}; no other place was asked for."
        return f"Stay synchronous: the next best, {following.name}, would take {_longer(advice.margin)}."
    return (f"Stay synchronous: the quickest, {best.name}, would save only {_percent(best.gain)} "
            f"({time(synchronous.seconds - best.seconds)}), less than the {_percent(WORTHWHILE)} from which a change "
            "is worth it.")


def crossovers(setting: Setting, places: tuple[str, ...] = ("sync", "thread", "core")) -> list[Crossover]:
    """Returns where the choice changes: along C/W (bytes constant), along the bytes (C constant), the number of
    cores, and the slow-down by the writer thread. Ordered by axis and value."""
    return [*_along_compute(setting, places), *_along_bytes(setting, places), *_along_cores(setting, places),
            *_along_slowdown(setting, places)]


def _along_compute(setting: Setting, places: tuple[str, ...]) -> list[Crossover]:
    ratio = setting.c / setting.w
    found = [Crossover("C/W", _turn(setting, places), "computing, no longer the storage, bounds the pipeline")]
    found += [Crossover("C/W", factor * ratio, meaning)
              for factor, meaning in _changes(lambda factor: _state(setting.scaled(c=factor), places),
                                              1 / _SPAN / ratio, _SPAN / ratio)]
    return sorted(found, key=lambda one: one.value)


def _along_bytes(setting: Setting, places: tuple[str, ...]) -> list[Crossover]:
    ratio = setting.c / setting.w
    found = [Crossover("bytes", ratio / _turn(setting, places),
                       "the storage, no longer computing, bounds the pipeline")]
    found += [Crossover("bytes", factor, meaning)
              for factor, meaning in _changes(lambda factor: _state(setting.scaled(w=factor), places),
                                              ratio / _SPAN, ratio * _SPAN)]
    return sorted(found, key=lambda one: one.value)


def _along_cores(setting: Setting, places: tuple[str, ...]) -> list[Crossover]:
    """Returns the least number of cores from which it pays off to dedicate one. If C_ded is given, it belongs to one
    number of cores, and nothing can vary."""
    if setting.cores is None or "core" not in places or setting.c_ded is not None:
        return []
    rivals = {"sync": "the synchronous program", "thread": "place thread with alloc and commit"}
    found = []
    for place, name in rivals.items():
        if place != "sync" and place not in places:
            continue
        least = _least_cores(setting, place)
        if least is not None:
            found.append(Crossover("cores", least, f"place core is quicker than {name}"))
    return found


def _turn(setting: Setting, places: tuple[str, ...]) -> float:
    """Returns the C/W at which computing and writing of the pipeline take equally long; of place core if there is no
    thread."""
    ded = setting.dedicated
    if "thread" in places or ded is None:
        return 1 / (1 + setting.slowdown) / setting.devices
    return setting.c / ded.compute * ded.write / setting.w


def _least_cores(setting: Setting, rival: str) -> int | None:
    def quicker(cores: int) -> bool:
        rows = {(one.place, one.verb): one.seconds for one in predict(replace(setting, cores=cores))}
        return rows["core", "alloc"] < rows[rival, "" if rival == "sync" else "alloc"] * (1 - 1e-12)

    low, high = 1, _MOST_CORES  # C_ded only decreases with the number of cores, so one end decides
    if not quicker(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if quicker(middle) else (middle, high)
    return high


def _along_slowdown(setting: Setting, places: tuple[str, ...]) -> list[Crossover]:
    if "thread" not in places or setting.n < 2:
        return []
    return [Crossover("slowdown", share, meaning)
            for share, meaning in _changes(lambda share: _state(replace(setting, slowdown=share), places), 1e-3, 10)]


def _state(setting: Setting, places: tuple[str, ...]) -> tuple[str, str]:
    """Returns what a crossover changes: the place to take, and whether `write` is still faster than sync."""
    advice = advise(setting, places)
    copied = [one for one in advice.predictions if one.verb == "write"]
    if advice.take.place == "sync":
        take = (f"no place saves {_percent(WORTHWHILE)} or more" if advice.best.place != "sync" else
                "the synchronous program is the quickest")
    else:
        take = f"{advice.take.name} saves most, {_percent(WORTHWHILE)} or more"
    write = "" if not copied else ("write is quicker than the synchronous program" if copied[0].gain > 1e-12 else
                                   "write, with its copy, is no quicker than the synchronous program")
    return take, write


def _changes(state: Callable[[float], tuple[str, str]], low: float, high: float) -> list[tuple[float, str]]:
    """Returns where `state` changes between low and high, and its value after that: a coarse search, then bisection,
    both over the logarithm."""
    steps = 240
    found = []
    points = [low * (high / low) ** (step / steps) for step in range(steps + 1)]
    states = [state(point) for point in points]
    for part in range(2):
        for index in range(steps):
            if states[index][part] == states[index + 1][part]:
                continue
            left, right = points[index], points[index + 1]
            for _ in range(50):
                middle = math.sqrt(left * right)
                left, right = (middle, right) if state(middle)[part] == states[index][part] else (left, middle)
            found.append((right, states[index + 1][part]))
    return sorted(found)


def _limit(setting: Setting) -> float:
    return pipeline.limit(setting.n, setting.c, min(setting.w, setting.synchronous_w), setting.devices,
                          setting.variables)


def _quickest(predictions: list[Prediction]) -> Prediction:
    """Returns the first of those that no other beats by more than rounding."""
    least = min(one.seconds for one in predictions)
    return next(one for one in predictions if one.seconds <= least * (1 + 1e-12))


def _longer(margin: float) -> str:
    return f"{_percent(margin)} longer" if margin >= 5e-4 else "as long"


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"
