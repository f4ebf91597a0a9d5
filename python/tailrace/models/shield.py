"""Predicts how long a program waits for each of its variables, from potential shield times and write times.

The potential shield time (PST, Castellano 2020 §2.1) of a variable is the time from its hand-over until its memory is
needed again; if writing takes longer, the program waits. One writer takes the variables in the order of their
hand-over, so a variable also waits for those before it, and each wait gives later ones more time. The model has both
effects, as Castellano 2020 §4 requires. All times are in seconds. Nothing here knows where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Variable:
    """One variable of an iteration; times in seconds."""

    name: str
    pst: float  #: from hand-over until its memory is needed again, without any waits
    write: float  #: to write it alone
    handover: float = 0.0  #: when it is handed over, from the start of the iteration
    formatting: float | None = None  #: part of `write`: making text, compressing; None: unknown


@dataclass(frozen=True)
class Waits:
    """The waits; times in seconds, over all iterations."""

    each: tuple[float, ...]  #: until the memory of each variable is free again, in the order given
    flush: float  #: at the end, until the last byte is written
    writing: float  #: OT: how long a synchronous program would wait

    @property
    def total(self) -> float:
        """Returns AT: the remaining wait."""
        return sum(self.each) + self.flush

    @property
    def overlap(self) -> float:
        """Returns OO, as a share."""
        return output_overlap(self.writing, self.total)


def output_overlap(ot: float, at: float) -> float:
    """Returns OO = (OT − AT)/OT, as a share: the part of the synchronous output time OT that the program no longer
    waits for; AT is the remaining wait, in seconds. Source: Castellano 2020, eq. 1."""
    return (ot - at) / ot if ot > 0 else 1.0


def alone(variable: Variable) -> float:
    """Returns the seconds of waiting for a variable if no other were written: max(0, W − PST). Source: Castellano
    2020 §2.1."""
    return max(0.0, variable.write - variable.pst)


def one_output(variables: Sequence[Variable]) -> Waits:
    """Returns the waits of one output, so far from the next that writing has ended by then. Source: own. If all
    variables are handed over at once, the total is the maximum of W_1 + … + W_v − PST_v, and never below zero."""
    return _replay(variables, 1, 0.0, 1, True)


def run(variables: Sequence[Variable], n: int, period: float, buffers: int = 1) -> Waits:
    """Returns the waits of n iterations of `period` seconds of computing, and the flush after the last. Source: own.

    With `buffers` > 1 a variable uses that many memories in turn, and needs the one of `buffers` − 1 iterations
    before. Each variable must be needed again before it is handed over again: PST ≤ period."""
    for variable in variables:
        if variable.pst > period * (1 + 1e-9):
            raise ValueError(f"{variable.name}: expected a PST of at most an iteration, {period} s, found "
                             f"{variable.pst} s")
        if variable.handover > period * (1 + 1e-9):
            raise ValueError(f"{variable.name}: expected a hand-over within the iteration, {period} s, found "
                             f"{variable.handover} s")
    return _replay(variables, n, period, buffers, False)


def formatted_by_the_program(variables: Sequence[Variable], n: int, period: float) -> Waits | None:
    """Returns the waits of n iterations if the program formats its output itself, and a thread writes what it has
    formatted, as OpenFOAM's collated format with its thread does; None if the formatting times are unknown. Source:
    own. The memory is needed again at once, but it has been formatted by then."""
    if any(variable.formatting is None for variable in variables):
        return None
    left = [replace(variable, write=max(0.0, variable.write - variable.formatting)) for variable in variables]
    waits = run(left, n, period)
    each = tuple(wait + n * variable.formatting for wait, variable in zip(waits.each, variables))
    return Waits(each, waits.flush, n * sum(variable.write for variable in variables))


def best_order(variables: Sequence[Variable]) -> list[Variable]:
    """Returns the order of hand-over with the least wait, if all are handed over at once: the variable whose memory
    is needed first goes first. Source: own; the total wait is the greatest lateness, which this order minimises
    (Jackson's rule of scheduling)."""
    return sorted(variables, key=lambda variable: variable.pst)


def _replay(variables: Sequence[Variable], n: int, period: float, buffers: int, last_needed: bool) -> Waits:
    """Replays hand-overs and needs in the program's order. Waits only shift later events, so that order is known
    beforehand."""
    _check(variables, n, buffers)
    each, written = [0.0] * len(variables), {}
    shift = free = 0.0  # total wait so far; when the writer is idle
    for time, need, iteration, index in _events(variables, n, period, last_needed):
        now = time + shift
        if need:
            wait = max(0.0, written.get((iteration - buffers + 1, index), 0.0) - now)
            each[index] += wait
            shift += wait
        else:
            free = max(now, free) + variables[index].write
            written[iteration, index] = free
    # If all memories are needed again at the end, nothing is left to flush.
    flush = 0.0 if last_needed else max(0.0, free - (n * period + shift))
    return Waits(tuple(each), flush, n * sum(variable.write for variable in variables))


def _events(variables: Sequence[Variable], n: int, period: float,
            last_needed: bool) -> list[tuple[float, bool, int, int]]:
    """Returns (time, need, iteration, variable), in order. Events at one time may be in any order, but a variable is
    handed over before it is needed: a program that waits finds the writer busy all the while, so the total is the
    same (but not which of several variables needed at once it waits for)."""
    events = []
    for iteration in range(n):
        for index, variable in enumerate(variables):
            handover = iteration * period + variable.handover
            events.append((handover, False, iteration, index))
            if last_needed or iteration + 1 < n:
                events.append((handover + variable.pst, True, iteration, index))
    return sorted(events, key=lambda event: (event[0], event[2], event[1], event[3]))


def _check(variables: Sequence[Variable], n: int, buffers: int) -> None:
    for name, count in (("n", n), ("buffers", buffers)):
        if count != int(count) or count < 1:
            raise ValueError(f"{name}: expected a whole number, 1 or more, found {count}")
    for variable in variables:
        for name, value in (("PST", variable.pst), ("write time", variable.write), ("hand-over", variable.handover)):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{variable.name}: expected a {name} of 0 s or more, found {value}")
