"""A program that computes and writes in turn, n times: how long it takes.

The models are those of the asynchronous Cube re-mapper (Sid Lakhdar 2017 §3.2), with its letters: `n` iterations,
each of `c` seconds of computing and `w` seconds of writing (by one device, for all bytes of the iteration). Beside
them are the limit, and the effects of bounded memory and of several variables in an iteration. All times are in
seconds. Nothing here knows tailrace's places; `advice` combines them.
"""

from __future__ import annotations

import math


def sync(n: int, c: float, w: float) -> float:
    """Returns the total seconds if each write is waited for: n·(C + W). Source: Sid Lakhdar 2017, eq. 3.1."""
    _check(n, c=c, w=w)
    return n * (c + w)


def model1(n: int, c: float, w: float) -> float:
    """Returns the total seconds of an asynchronous program with one device, if handing over is free and nothing
    disturbs: C + W + (n − 1)·max(C, W). Source: Sid Lakhdar 2017, eq. 3.2."""
    _check(n, c=c, w=w)
    return c + w + (n - 1) * max(c, w)


def model2(n: int, c: float, w: float, req: float) -> float:
    """Model 1 with `w` as measured under load and `req` seconds to hand over a request: … + n·req. Source: Sid
    Lakhdar 2017, eq. 3.5. It is too high by (n − 1)·min(req, W − C) if W > C, since handing over is then hidden as
    computing is."""
    _check(n, c=c, w=w, req=req)
    return model1(n, c, w) + n * req


def model3(n: int, c: float, w: float, devices: int) -> float:
    """Returns the total seconds with several devices, each written to independently, where `w` is the time of one: C
    + W + (n − 1)·max(C, W/N_io). Source: Sid Lakhdar 2017, eq. 3.6–3.8, which assumes that n is much larger than
    N_io: it is too high by up to (N_io − 1)·(W/N_io − C) if C < W/N_io and n − 1 is not a multiple of N_io."""
    _check(n, c=c, w=w)
    _check_count("devices", devices)
    return c + w + (n - 1) * max(c, w / devices)


def with_copy(n: int, c: float, w: float, req: float, copy: float) -> float:
    """Model 2 if the caller copies each iteration's bytes in `copy` seconds, as `write` does: for the pipeline, the
    copy is computing. Source: Sid Lakhdar 2017, eq. 3.5 with C + copy for C."""
    _check(n, c=c, w=w, req=req, copy=copy)
    return model2(n, c + copy, w, req)


def limit(n: int, c: float, w: float, devices: int = 1, variables: int = 1) -> float:
    """Returns the seconds that no schedule can beat. Each iteration goes as a whole to one device, in `variables`
    equal blocks, each handed over as soon as it is computed. Source: own, by induction over the iterations of a
    device (docs/models.md); for one device and one variable it is eq. 3.2 of Sid Lakhdar 2017.

    The last block of iteration i ends at `a(i)` if its device is idle, and otherwise W after that of iteration i −
    devices. Both grow linearly, so the longest chain is either the last iteration alone or all iterations of its
    device."""
    _check(n, c=c, w=w)
    _check_count("devices", devices)
    _check_count("variables", variables)
    rounds, first = divmod(n - 1, devices)
    tail = max(c / variables + w, c + w / variables)  # an iteration on an idle device, from its start
    return max((n - 1) * c + tail, first * c + tail + rounds * w)


def pipelined(n: int, c: float, w: float, *, req: float = 0.0, copy: float = 0.0, devices: int = 1,
              variables: int = 1) -> float:
    """Returns the total seconds that `tailrace predict` uses: the limit with the copy counted as computing, and the
    cost of each request. Source: own; model 2 (with copy) for one device and one variable, and model 3 without its
    excess for several devices."""
    _check(n, c=c, w=w, req=req, copy=copy)
    return limit(n, c + copy, w, devices, variables) + n * variables * req


def bounded(n: int, c: float, w: float, blocks: int, devices: int = 1) -> float:
    """Returns the limit if memory holds `blocks` iterations, including the one being computed. More than devices + 1
    blocks gain nothing; one block is a synchronous program. Source: own (docs/models.md)."""
    _check(n, c=c, w=w)
    _check_count("blocks", blocks)
    if blocks > devices:
        return limit(n, c, w, devices)
    # Each block is computed and written in turn, and no device ever lacks work.
    rounds, first = divmod(n - 1, blocks)
    return max(n * c + w, (first + 1) * c + rounds * (c + w) + w)


def contended(c: float, w: float, w_busy: float) -> float:
    """Returns W of a program that computes `c` seconds in an iteration, if a write takes `w` seconds beside a caller
    that waits, and `w_busy` beside one that computes. The storage's rate changes between the two as the caller does,
    so c/w_busy + (W − c)/w = 1 for c < w_busy, and W = w_busy from there on. A `w_busy` below `w` counts as `w`.
    Source: own (docs/models.md)."""
    _check(1, c=c, w=w, w_busy=w_busy)
    if w_busy <= w:
        return w
    return w + min(c, w_busy) * (1 - w / w_busy)


def gain(sync_seconds: float, seconds: float) -> float:
    """Returns the saved share of the synchronous time: 0.375 for 37.5 %. Source: Sid Lakhdar 2017 §4.1."""
    return 1 - seconds / sync_seconds if sync_seconds > 0 else 0.0


def _check(n: int, **seconds: float) -> None:
    _check_count("n", n)
    for name, value in seconds.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name}: expected seconds, 0 or more, found {value}")


def _check_count(name: str, value: int) -> None:
    if value != int(value) or value < 1:
        raise ValueError(f"{name}: expected a whole number, 1 or more, found {value}")
