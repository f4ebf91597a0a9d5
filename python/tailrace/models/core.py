"""Does a core for output alone pay off? Damaris' inequality (Dorier et al. 2012 §6.1), for place `core` and for place
`thread`.

A core that is taken from computing makes each iteration longer, but hides its output. The inequality compares one
iteration of a long run: synchronous on the left, with hidden output on the right. Times are in seconds for an
iteration. Nothing here decides; `advice` compares whole runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import pipeline


@dataclass(frozen=True)
class Inequality:
    """W_std + C_std > max(C, W), with C and W of the hidden output; times in seconds for an iteration."""

    synchronous: float  #: the left side, W_std + C_std
    compute: float  #: C_ded, or C of place thread
    write: float  #: W_ded, or W of place thread

    @property
    def hidden(self) -> float:
        """Returns the right side."""
        return max(self.compute, self.write)

    @property
    def holds(self) -> bool:
        """Returns True if it pays off."""
        return self.synchronous > self.hidden

    @property
    def margin(self) -> float:
        """Returns the seconds of an iteration that are saved; below zero, lost."""
        return self.synchronous - self.hidden

    @property
    def gain(self) -> float:
        """Returns the same as a share of the synchronous iteration."""
        return pipeline.gain(self.synchronous, self.hidden)


def dedicated_compute(c: float, cores: int) -> float:
    """Returns C_ded in seconds, if N − 1 cores do the work of N with perfect scaling: C·N/(N − 1). Source: Dorier et
    al. 2012 §6.1 (`optimal parallelization`); CM1 does better there, since fewer cores contend for memory."""
    _check_cores(cores)
    return c * cores / (cores - 1)


def worth_from(cores: int) -> float:
    """Returns p = 100/(N − 1): the percentage of the *computing* time that output must take for a dedicated core to
    pay off, if computing scales perfectly and the core keeps up. Source: Dorier et al. 2012 §6.1; 24 cores: 4.35 %.
    (Of the whole iteration it is 100/N: 4.17 %.)"""
    _check_cores(cores)
    return 100 / (cores - 1)


def cores_from(c: float, w: float) -> float:
    """Returns the same, solved for N: with more cores on a node than this, it pays off to dedicate one: 1 + C/W.
    Source: Dorier et al. 2012 §6.1."""
    return 1 + c / w if w > 0 else float("inf")


def dedicated(c_std: float, w_std: float, cores: int, *, c_ded: float | None = None,
              w_ded: float | None = None) -> Inequality:
    """Returns Damaris' inequality, W_std + C_std > max(C_ded, W_ded). Source: Dorier et al. 2012 §6.1.

    `w_ded` is `w_std` unless given: the same bytes to the same storage. The seed's worst case, N·W_std, can never
    hold: it requires both W > C/(N − 1) and W < C/(N − 1) (docs/models.md)."""
    if c_ded is None:
        c_ded = dedicated_compute(c_std, cores)
    return Inequality(w_std + c_std, c_ded, w_std if w_ded is None else w_ded)


def threaded(c_std: float, w_std: float, *, w: float | None = None, slowdown: float = 0.0, copy: float = 0.0,
             req: float = 0.0) -> Inequality:
    """Returns the inequality for a writer thread beside N computing ones: no core is lost, but computing is slower by
    the share `slowdown`, and the caller copies and hands over. Source: own, in the form of Dorier et al. 2012 §6.1;
    Sid Lakhdar 2017 §4.2 measured slow-downs of 0.4 to 0.8 for its naive version, and 0.02 to 0.05 with pinned
    threads."""
    return Inequality(w_std + c_std, c_std * (1 + slowdown) + copy + req, w_std if w is None else w)


def total(n: int, c_ded: float, w_ded: float, *, req: float = 0.0, copy: float = 0.0, devices: int = 1,
          variables: int = 1) -> float:
    """Returns the total seconds with a dedicated core, over n iterations. Source: the pipeline of Sid Lakhdar 2017,
    eq. 3.2, with C_ded and W_ded of Dorier et al. 2012 §6.1, which only considers the long run."""
    return pipeline.pipelined(n, c_ded, w_ded, req=req, copy=copy, devices=devices, variables=variables)


def _check_cores(cores: int) -> None:
    if cores != int(cores) or cores < 2:
        raise ValueError(f"cores: expected 2 or more, one to write and the others to compute, found {cores}")
