"""How long a program waits for each of its variables, from potential shield times and write times.

The potential shield time (PST, seed 002 §2.1) of a variable runs from its hand-over until its memory is needed again;
where writing takes longer, the program waits. One writer takes the variables in the order they were handed over, so a
variable also waits for those before it, and each wait gives the later ones more time: both are in here (seed 002 §4
asks for it). All times are in seconds. Nothing here knows where the times come from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """One variable of an iteration; times in seconds."""

    name: str
    pst: float  #: from hand-over until its memory is needed again, as if nothing were waited for
    write: float  #: to write it, alone
    handover: float = 0.0  #: when it is handed over, from the beginning of the iteration


@dataclass(frozen=True)
class Waits:
    """What is waited for; times in seconds, over all iterations."""

    each: tuple[float, ...]  #: before the memory of each variable is free again, in the order given
    flush: float  #: at the end, until the last byte is written
    writing: float  #: OT: what a synchronous program would wait

    @property
    def total(self) -> float:
        """AT: what is still waited."""
        return sum(self.each) + self.flush

    @property
    def overlap(self) -> float:
        """OO, as a share."""
        return output_overlap(self.writing, self.total)


def output_overlap(ot: float, at: float) -> float:
    """OO = (OT − AT)/OT, as a share: what of the synchronous output time OT is no longer waited for, AT being what
    still is, in seconds. Source: seed 002, eq. 1."""
    return (ot - at) / ot if ot > 0 else 1.0


def alone(variable: Variable) -> float:
    """Seconds waited for a variable if no other were written: max(0, W − PST). Source: seed 002 §2.1."""
    return max(0.0, variable.write - variable.pst)


def one_output(variables: Sequence[Variable]) -> Waits:
    """The waits of one output, so far from the next that writing has ended by then. Source: own. Where all are
    handed over at once, the total is the largest of W_1 + … + W_v − PST_v, and never below zero."""
    return _replay(variables, 1, 0.0, 1, True)


def run(variables: Sequence[Variable], n: int, period: float, buffers: int = 1) -> Waits:
    """The waits of n iterations of `period` seconds of computing, and the flush after the last. Source: own.

    With `buffers` > 1 a variable has as many memories in turns, and the one needed is that of `buffers` − 1
    iterations before. Each variable must be needed again before it is handed over again: PST ≤ period."""
    for variable in variables:
        if variable.pst > period * (1 + 1e-9):
            raise ValueError(f"{variable.name}: expected a PST of at most an iteration, {period} s, found "
                             f"{variable.pst} s")
        if variable.handover > period * (1 + 1e-9):
            raise ValueError(f"{variable.name}: expected a hand-over within the iteration, {period} s, found "
                             f"{variable.handover} s")
    return _replay(variables, n, period, buffers, False)


def best_order(variables: Sequence[Variable]) -> list[Variable]:
    """The order to hand them over that is waited for least, if all are handed over at once: the one whose memory is
    needed first goes first. Source: own; the total wait is the greatest lateness, which this order keeps least
    (Jackson's rule of scheduling)."""
    return sorted(variables, key=lambda variable: variable.pst)


def _replay(variables: Sequence[Variable], n: int, period: float, buffers: int, last_needed: bool) -> Waits:
    """Replays hand-overs and needs in the order of the program. Waits only shift what comes after, so that order is
    known beforehand."""
    _check(variables, n, buffers)
    each, written = [0.0] * len(variables), {}
    shift = free = 0.0  # waited so far; when the writer has nothing to do
    for time, need, iteration, index in _events(variables, n, period, last_needed):
        now = time + shift
        if need:
            wait = max(0.0, written.get((iteration - buffers + 1, index), 0.0) - now)
            each[index] += wait
            shift += wait
        else:
            free = max(now, free) + variables[index].write
            written[iteration, index] = free
    # Where all are needed again in the end, nothing is left to flush by then.
    flush = 0.0 if last_needed else max(0.0, free - (n * period + shift))
    return Waits(tuple(each), flush, n * sum(variable.write for variable in variables))


def _events(variables: Sequence[Variable], n: int, period: float,
            last_needed: bool) -> list[tuple[float, bool, int, int]]:
    """(time, need, iteration, variable), in order. What happens at one time may come in either order, but that a
    variable is handed over before it is needed: who waits for the writer finds it busy all the while, so that the
    total is the same (which of several variables needed at once is waited for is not)."""
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
