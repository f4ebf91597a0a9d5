"""States the results of measured runs in plain sentences, for the top of the report, and the cost of the copy.

Each sentence comes from the file's figures, good or bad; it does not mention what was not measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tailrace import quantity

from ..bench import steal
from . import ablation, numbers, peers
from .numbers import Result

PROMISED = 0.10  # largest deviation of a prediction
_SPREAD = 0.10  # share of the median from which a reader should doubt
_BELOW = 0.01  # share of the limit: more than rounding
_NEAR, _FAR = 0.5, 0.1  # copy / W: storage nearly as fast as memory; and negligible

LIMIT = "C\u00a0+\u00a0W\u00a0+\u00a0(n\u00a0−\u00a01)·max(C,\u00a0W/N_io)"  # in one line


@dataclass(frozen=True)
class Copy:
    """The cost of a copy at one C/W, in seconds over all iterations."""

    at: float
    limit: float
    with_copies: float
    measured: float | None  # seconds of the writer with a copy, less those of the best one without

    @property
    def saved(self) -> float:
        """Returns the gain of not copying, at the limit."""
        return self.with_copies - self.limit


def summary(result: Result) -> list[str]:
    """Returns the sentences for the top of the page."""
    found = [_setting(result)]
    if result.get("points"):
        found += _peers(result) if result["kind"] == "peers" else _gain(result)
    if result.get("ablation"):
        found += _ablation(result)
    found += _prediction(result)
    copies = copying(result)
    return found + copies[:1] + _doubts(result)


def _setting(result: Result) -> str:
    settings = result["settings"]
    places = ", ".join(f"{one['directory']} ({one['filesystem']}, page cache {one['page_cache']})"
                       for one in result.get("storage") or [])
    points = numbers.points(result)
    w = numbers.write_seconds(result)
    size = quantity.format_size(settings["bytes"])
    text = f"{settings['iterations']} iterations of {size} each were computed and written"
    text += f" to {places}" if places else ""
    if points:
        ends = sorted({numbers.ratio(point) for point in points})
        text += f"; C/W {ends[0]:.3g}" + (f" to {ends[-1]:.3g}" if len(ends) > 1 else "")
    return text + (f", W = {quantity.format_time(w)} an iteration." if w else ".")


def _nearest(result: Result) -> dict[str, Any]:
    """Returns the point nearest to C = W, where the gain is largest."""
    return min(numbers.points(result), key=lambda point: abs(math.log(max(numbers.ratio(point), 1e-9))))


def _best(point: dict[str, Any], mine: bool) -> tuple[str, numbers.Value] | None:
    found = [(name, total) for name, series in point["series"].items() if name != "none" and peers.ours(name) == mine
             if (total := numbers.value(series, "total")) is not None]
    return min(found, key=lambda one: one[1].median, default=None)


def _gain(result: Result) -> list[str]:
    point = _nearest(result)
    mine, sync = _best(point, True), numbers.value(point["series"].get("sync") or {}, "total")
    if mine is None:
        return []
    name, total = mine
    series = point["series"][name]
    by_limit = numbers.to_limit(point, series)
    text = f"At C/W {numbers.label(point)}, {name} takes {quantity.format_time(total.median)}"
    if sync is not None:
        share = 1 - total.median / sync.median
        before = quantity.format_time(sync.median)
        text += f" instead of {before} synchronously, {100 * abs(share):.0f} % {'less' if share > 0 else 'more'}"
    text += f". That is {by_limit.median:.2f} times the limit, which no schedule beats." if by_limit else "."
    return [text, *_waiting(name, series)]


def _waiting(name: str, series: dict[str, Any]) -> list[str]:
    overlap, slowdown = numbers.value(series, "overlap"), numbers.value(series, "slowdown")
    parts = []
    if overlap is not None:
        parts.append(f"{100 * overlap.median:.1f} % of the time that the program waited for output is gone"
                     if overlap.median > 0 else "the program waits no less for output")
    if slowdown is not None:
        word = "slower" if slowdown.median >= 0 else "faster"
        parts.append(f"the computation is {100 * abs(slowdown.median):.1f} % {word} than without output")
    return [f"With {name}, {' and '.join(parts)}."] if parts else []


def _peers(result: Result) -> list[str]:
    said = []
    for point in numbers.points(result):
        mine, theirs = _best(point, True), _best(point, False)
        if mine is None or theirs is None:
            continue
        share = theirs[1].median / mine[1].median - 1
        by_limit = numbers.to_limit(point, point["series"][mine[0]])
        end = (f"the nearest peer, {theirs[0]}, takes {100 * share:.0f} % longer" if share > 0 else
               f"{theirs[0]} is faster, by {-100 * share:.0f} %")
        said.append(f"At C/W {numbers.label(point)}, {mine[0]} takes {quantity.format_time(mine[1].median)}"
                    + (f", {by_limit.median:.2f} times the limit" if by_limit else "") + f"; {end}.")
    return said + _least_waiting(result)


def _least_waiting(result: Result) -> list[str]:
    """Says which peers wait less than tailrace, and where."""
    ahead = []
    for point in numbers.points(result):
        waits = {name: found.median for name, series in point["series"].items() if name != "none"
                 if (found := numbers.value(series, "waiting")) is not None}
        least = min(waits, key=lambda name: waits[name], default=None)
        if least is not None and not peers.ours(least):
            ahead.append(f"{least} at C/W {numbers.label(point)}")
    return [f"Some peer waits less for output than tailrace: {', '.join(ahead)}." if ahead else
            "No peer waits less for output than tailrace."]


def _ablation(result: Result) -> list[str]:
    rungs, point = result["ablation"], numbers.only_point(result)
    first = rungs[0]
    default = next((rung for k, rung in enumerate(rungs) if ablation.default(rungs, k)), rungs[-1])
    before, after = (numbers.to_limit(point, rung["series"]) for rung in (first, default))
    if before is None or after is None or first is default:
        return []
    return [f"Against {first['name']}, all parts of the design together bring the total from {before.median:.2f} to "
            f"{after.median:.2f} times the limit."]


def _prediction(result: Result) -> list[str]:
    found = numbers.deviations(result)
    if not found:
        return []
    deviation, name, at, predicted, measured = found[0]
    text = (f"The largest deviation of the {len(found)} predictions is {100 * deviation:+.1f} % ({name} at C/W "
            f"{at:.3g}: "
            f"predicted {quantity.format_time(predicted)}, measured {quantity.format_time(measured)})")
    return [text + ("." if abs(deviation) <= PROMISED else
                    f": more than the {100 * PROMISED:.0f} % that it is to keep.")]


def _doubts(result: Result) -> list[str]:
    """Lists what a reader should know before trusting the figures."""
    wide: list[tuple[float, str, float]] = []
    below: dict[str, None] = {}
    failed: dict[str, str] = {}
    for point in numbers.points(result):
        for name, series in point["series"].items():
            total = numbers.value(series, "total")
            if series.get("error"):
                failed[name] = str(series["error"])
            elif total is not None and total.most - total.least > _SPREAD * total.median:
                wide.append((100 * (total.most - total.least) / total.median, name, numbers.ratio(point)))
            by_limit = numbers.to_limit(point, series) if name != "none" else None
            if by_limit is not None and by_limit.median < 1 - _BELOW:
                below[name] = None
    said = [f"{name} could not run: {why.rstrip('.')}." for name, why in failed.items()]
    if below:
        said.append(f"Below the limit: {', '.join(below)}. W of the limit is that of the synchronous runs: storage "
                    "that "
                    "takes several transfers at once, or a busy machine, may do better than that.")
    if wide:
        spread, name, at = max(wide)
        said.append(f"The runs of {len(wide)} of the series spread by more than {100 * _SPREAD:.0f} % of their "
                    "median, "
                    f"most those of {name} at C/W {at:.3g} ({spread:.0f} %): the machine or the storage was busy "
                    f"with something else{steal.unrest(result.get('steal', {}))}.")
    said += steal.told(result.get("steal", {}))
    if int(result["settings"].get("repeats") or 0) < 3:
        said.append("Fewer than three runs each: the figures say little about their spread.")
    return said


def copies(result: Result) -> list[Copy]:
    """Returns the cost of copying at each C/W, where it was measured."""
    copy, n = numbers.fit(result, "copy"), int(result["settings"]["iterations"])
    found = []
    for point in numbers.points(result) if copy is not None else []:
        assert copy is not None
        c, w, best = (float(point[key]) for key in ("compute_seconds", "write_seconds", "limit_seconds"))
        given = point.get("limit_copy_seconds")
        # This is the schedule above with the copy counted as computing; for one device, as in the limit.
        limit = float(given) if given is not None else best + copy + (n - 1) * (max(c + copy, w) - max(c, w))
        totals = {verb: total.median for verb in ("alloc", "borrow", "write")
                  if (total := numbers.value(point["series"].get(f"tailrace {verb}") or {}, "total")) is not None}
        without = [totals[verb] for verb in ("alloc", "borrow") if verb in totals]
        saved = totals["write"] - min(without) if without and "write" in totals else None
        found.append(Copy(numbers.ratio(point), best, limit, saved))
    return found


def copying(result: Result) -> list[str]:
    """Describes the cost of the copy, beginning with the sentence for the summary; empty if it was not measured."""
    copy, w = numbers.fit(result, "copy"), numbers.write_seconds(result)
    found = copies(result)
    if not copy or not w or not found:
        return []
    size, share = float(result["settings"]["bytes"]), copy / w
    said = (f"Copying an iteration's bytes takes {quantity.format_time(copy)} ({quantity.format_rate(size / copy)}), "
            f"{100 * share:.0f} % of W ({quantity.format_rate(size / w)})")
    worst = max(found, key=lambda one: one.saved / one.limit)
    most = (f"{quantity.format_time(worst.saved)} or {100 * worst.saved / worst.limit:.0f} % of the total, at "
            f"C/W {worst.at:.3g}")
    if share >= _NEAR:
        first = (f"{said}: storage is nearly as fast as memory here, and the copy is what remains of the cost of "
                 "output. "
                 f"alloc/commit and borrow save it: up to {most}.")
    elif share >= _FAR:
        first = f"{said}; alloc/commit and borrow save it: up to {most}."
    else:
        first = f"{said}: it matters little here. alloc/commit and borrow save up to {most}."
    return [first, "While C + copy is less than W, the copies hide behind the writing and only one of them shows; "
                   "from "
                   f"C = W on each adds to the total. The figures below are of the limit {LIMIT}, without and "
                   "with a copy an iteration."]
