"""A program that computes and writes in turns, n times: how long it takes.

The models are those of the asynchronous Cube re-mapper (seed 000 §3.2), with its letters: `n` iterations, each of
`c` seconds of computing and `w` seconds of writing (by one device, for all bytes of the iteration). Beside them stand
the limit, and what a bounded memory and several variables an iteration change. All times are in seconds. Nothing
here knows about tailrace's places; `advice` puts them together.
"""

from __future__ import annotations

import math


def sync(n: int, c: float, w: float) -> float:
    """Seconds in total if each write is waited for: n·(C + W). Source: seed 000, eq. 3.1."""
    _check(n, c=c, w=w)
    return n * (c + w)


def model1(n: int, c: float, w: float) -> float:
    """Seconds in total of an asynchronous program with one device, if handing over is free and nothing disturbs:
    C + W + (n − 1)·max(C, W). Source: seed 000, eq. 3.2."""
    _check(n, c=c, w=w)
    return c + w + (n - 1) * max(c, w)


def model2(n: int, c: float, w: float, req: float) -> float:
    """Model 1 with `w` as measured under load and `req` seconds to hand a request over: … + n·req. Source: seed 000,
    eq. 3.5. Too high by (n − 1)·min(req, W − C) where W > C: handing over is then hidden as computing is."""
    _check(n, c=c, w=w, req=req)
    return model1(n, c, w) + n * req


def model3(n: int, c: float, w: float, devices: int) -> float:
    """Seconds in total with several devices, each written to independently and `w` being the time of one:
    C + W + (n − 1)·max(C, W/N_io). Source: seed 000, eq. 3.6–3.8, which takes n to be much larger than N_io: it is
    too high by up to (N_io − 1)·(W/N_io − C) where C < W/N_io and n − 1 is no multiple of N_io."""
    _check(n, c=c, w=w)
    _check_count("devices", devices)
    return c + w + (n - 1) * max(c, w / devices)


def with_copy(n: int, c: float, w: float, req: float, copy: float) -> float:
    """Model 2 if the caller copies each iteration's bytes in `copy` seconds, as `write` does: the copy is computing
    to the pipeline. Source: seed 000, eq. 3.5 with C + copy for C."""
    _check(n, c=c, w=w, req=req, copy=copy)
    return model2(n, c + copy, w, req)


def limit(n: int, c: float, w: float, devices: int = 1, variables: int = 1) -> float:
    """Seconds that no schedule can beat. Each iteration goes whole to one device, in `variables` equal blocks, each
    handed over as soon as it is computed. Source: own, by induction over the iterations of a device (docs/models.md);
    for one device and one variable it is eq. 3.2 of seed 000, as in design §8.

    The last block of iteration i ends at `a(i)` if its device is idle, and W after that of iteration i − devices if
    not; both grow linearly, so that the longest chain is either the last iteration alone or all of its device."""
    _check(n, c=c, w=w)
    _check_count("devices", devices)
    _check_count("variables", variables)
    rounds, first = divmod(n - 1, devices)
    tail = max(c / variables + w, c + w / variables)  # an iteration on an idle device, from its start
    return max((n - 1) * c + tail, first * c + tail + rounds * w)


def pipelined(n: int, c: float, w: float, *, req: float = 0.0, copy: float = 0.0, devices: int = 1,
              variables: int = 1) -> float:
    """Seconds in total as `tailrace predict` has them: the limit with the copy on the side of computing, and each
    request paid for. Source: own; model 2 (with copy) for one device and one variable, and model 3 without its
    excess for several devices."""
    _check(n, c=c, w=w, req=req, copy=copy)
    return limit(n, c + copy, w, devices, variables) + n * variables * req


def bounded(n: int, c: float, w: float, blocks: int, devices: int = 1) -> float:
    """The limit if memory holds `blocks` iterations, the one that is being computed included. From devices + 1 blocks
    on more memory gains nothing; one block is a synchronous program. Source: own (docs/models.md)."""
    _check(n, c=c, w=w)
    _check_count("blocks", blocks)
    if blocks > devices:
        return limit(n, c, w, devices)
    # Each block is computed and written in turns, and no device is ever short.
    rounds, first = divmod(n - 1, blocks)
    return max(n * c + w, (first + 1) * c + rounds * (c + w) + w)


def contended(c: float, w: float, w_busy: float) -> float:
    """W of a program that computes `c` seconds an iteration, if a write takes `w` seconds beside a caller that waits,
    and `w_busy` beside one that computes: the storage's rate changes between the two as the caller does, so that
    c/w_busy + (W − c)/w = 1 for c < w_busy, and W = w_busy from there on. A `w_busy` below `w` is taken for `w`.
    Source: own (docs/models.md)."""
    _check(1, c=c, w=w, w_busy=w_busy)
    if w_busy <= w:
        return w
    return w + min(c, w_busy) * (1 - w / w_busy)


def gain(sync_seconds: float, seconds: float) -> float:
    """The share of the synchronous time that is saved, 0.375 for 37.5 %. Source: seed 000 §4.1."""
    return 1 - seconds / sync_seconds if sync_seconds > 0 else 0.0


def _check(n: int, **seconds: float) -> None:
    _check_count("n", n)
    for name, value in seconds.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name}: expected seconds, 0 or more, found {value}")


def _check_count(name: str, value: int) -> None:
    if value != int(value) or value < 1:
        raise ValueError(f"{name}: expected a whole number, 1 or more, found {value}")
