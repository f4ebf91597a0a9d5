"""Prints the results of `tailrace bench`, in tables and sentences: what was measured and where, a table for each C/W,
and the conclusions. Reports every measurement, good or bad; computes only what its sentences need.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from tailrace import quantity
from tailrace.cli import fitting
from tailrace.unrest import ADVICE

from ..bench import command, steal
from . import bench_variables

if TYPE_CHECKING:
    from ..bench.pattern import Settings

_MIB = 1024.0 * 1024.0
_Series = dict[str, Any]

# Without a terminal the width is not limited, and a table that wraps is not readable.
_WIDTH = 160
_NARROW = 124

_COLUMNS = ("total s", "least … most", "± CI", "/ limit", "compute\nslowed %", "waiting\ns", "OO %", "peak\nMiB",
            "predicted\ns", "off\n%", "cache\nmisses")
_LEFT_OUT = ("least … most", "peak\nMiB", "predicted\ns", "cache\nmisses")

# R² of a W whose line is good enough for predictions.
_STRAIGHT = 0.98

# The pairs of the ablation: rungs of Sid Lakhdar 2017's ladder, without and with one of tailrace's measures.
_PAIRS = (("unpinned", "pinned"), ("unaligned borrow", "aligned borrow"), ("malloc each iteration", "pool"),
          ("buffered", "direct"))


class Printer:
    """Prints to a stream, in the order of its methods."""

    def __init__(self, stream: IO[str] = sys.stdout, settings: Settings | None = None) -> None:
        self.console = Console(file=stream, width=None if stream.isatty() else _WIDTH, highlight=False)
        self._settings = settings
        self._points = 0

    def begin(self, document: dict[str, Any]) -> None:
        """Prints what is measured, and where."""
        self._lines(basis(document))

    def point(self, point: dict[str, Any], ablation: Sequence[dict[str, Any]]) -> None:
        """Prints a C/W."""
        self._points += 1
        shown = list(point["series"].items())
        shown += [(rung["name"], rung["series"]) for rung in ablation]
        self._lines(["", *about(point)])
        fitting.show(self.console, table(shown, self.console.width))
        self._lines([*_missing(shown), *_notes(shown)])
        if any(len(run.get("per_variable", [])) > 1 for _, one in shown for run in one.get("runs", [])[:1]):
            fitting.show(self.console, bench_variables.table(shown))

    def left(self, words: str, paths: Sequence[object]) -> None:
        """Prints what the runs have left."""
        self._lines([f"{words + ':':<9} {path}" for path in paths])

    def conclude(self, document: dict[str, Any]) -> None:
        """Prints the conclusions."""
        lines = [conclusion(document), ablation(document), prediction(document, self._settings), *doubts(document)]
        if document.get("quick"):
            lines.append("These were tiny runs, to see that it works: the figures say nothing.")
        self._lines(["", *(line for line in lines if line)])

    def _lines(self, lines: Sequence[str]) -> None:
        for line in lines:
            fitting.say(self.console, line)


def basis(document: dict[str, Any]) -> list[str]:
    """Says what is measured and where, and what was measured before the runs."""
    settings, measured = document["settings"], document["measured"]
    n, size = settings["iterations"], settings["bytes"]
    variables = f" in {settings['variables']} variables" if settings["variables"] > 1 else ""
    threads = f", {settings['threads']} threads" if settings["threads"] > 1 else ""
    lines = [f"{n} iterations of {quantity.format_size(size)}{variables}, computing: {settings['compute']}{threads} "
             f"({settings['memory']}); median of {quantity.counted(settings['repeats'], 'round')}, "
             "every writer once a round, in turn"]
    for one in document["storage"]:
        cache = ("page cache bypassed" if one["page_cache"] == "bypassed" else
                 "through the page cache, synced within the total")
        lines.append(f"  in {one['directory']}: {one['filesystem']}, {cache}")
    # R² says how well a line describes the samples: for too few or disturbed ones, it is low.
    for key, words in (("write_regression", "W by regression (synchronous)"),
                       ("write_saturation", "W by saturation (tailrace)"),
                       ("write_saturation_busy", "… while the caller computes"),
                       ("write_saturation_copy", "… while the caller copies"),
                       ("write_copy", "the copy that write makes"), ("copy", "memcpy, memory warm")):
        fit = measured[key]
        rate = f"  {quantity.format_rate(size / fit['seconds']):>9}" if fit["seconds"] > 0 else ""
        lines.append(f"  {words:<30} {quantity.format_time(fit['seconds']):>9}{rate}  R² {fit['r2']:.3f}")
    fit = measured["request"]
    lines.append(f"  {'req, handing over a request':<30} {quantity.format_time(fit['seconds']):>9}  {'':9}  "
                 f"R² {fit['r2']:.3f}")
    return lines


def about(point: dict[str, Any]) -> list[str]:
    """Introduces the table below it."""
    c, w = point["compute_seconds"], point["write_seconds"]
    lines = [f"C/W = {_ratio(c, w)} (asked: {point['c_over_w_asked']:.3g}): C {quantity.format_time(c)}, "
             f"W {quantity.format_time(w)}; limit {quantity.format_time(point['limit_seconds'])}, with a memcpy an "
             f"iteration {quantity.format_time(point['limit_copy_seconds'])}"]
    # A kernel's shortest pass, or the overhead of an iteration, may take longer than the requested time.
    if w > 0 and not 0.8 < (c / w) / point["c_over_w_asked"] < 1.25:
        lines.append("  that is not what was asked for: C or W was not the same in the runs as before them")
    return lines


def table(shown: Sequence[tuple[str, _Series]], width: int = _WIDTH) -> Table:
    """Returns the table, a row for each writer; a narrow one lacks the columns that follow from others or matter
    least."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("", no_wrap=True)
    rows = [(title, _row(title, one) if "summary" in one else {}) for title, one in shown]
    names = [name for name in _COLUMNS if width >= _NARROW or name not in _LEFT_OUT]
    if not any("cache\nmisses" in cells for _, cells in rows):
        names = [name for name in names if name != "cache\nmisses"]
    for name in names:
        made.add_column(name, justify="right", no_wrap=True, vertical="bottom")
    for title, cells in rows:
        made.add_row(title, *(cells.get(name, "–") for name in names) if cells else ["failed"])
    return made


def _row(title: str, one: _Series) -> dict[str, str]:
    """Returns the cells that have a value, by their columns."""
    summary = one["summary"]
    total = summary["total"]
    around = max(total["median"] - total["ci_low"], total["ci_high"] - total["median"])
    digits = quantity.decimals(total["median"])
    cells = {"total s": f"{total['median']:.{digits}f}", "± CI": f"{around:.{digits}f}",
             "least … most": f"{total['least']:.{digits}f} … {total['most']:.{digits}f}"}
    for name, key, form in (
            ("/ limit", "to_limit", quantity.three), ("compute\nslowed %", "slowdown", quantity.percent),
            ("waiting\ns", "waiting", quantity.three), ("OO %", "overlap", quantity.percent),
            ("peak\nMiB", "peak_memory", lambda bytes_: f"{bytes_ / _MIB:.0f}")):
        if key in summary and (title != "none" or key == "peak_memory"):
            cells[name] = form(summary[key]["median"])
    if "cache_misses" in summary:
        cells["cache\nmisses"] = _number(summary["cache_misses"]["median"])
    if one.get("deviation") is not None:
        cells["predicted\ns"] = f"{one['predicted_seconds']:.{digits}f}"
        if "predicted_interval" in one:
            low, high = one["predicted_interval"]
            cells["predicted\ns"] += f" ({low:.{digits}f} … {high:.{digits}f})"
        cells["off\n%"] = quantity.percent(one["deviation"], "+")
    return cells


def _missing(shown: Sequence[tuple[str, _Series]]) -> list[str]:
    whys = {run["cache_misses_not_available"]: None for _, one in shown for run in one.get("runs", [])
            if run.get("cache_misses") is None and "cache_misses_not_available" in run}
    return [f"cache misses: not available here: {why}" for why in whys]


def _notes(shown: Sequence[tuple[str, _Series]]) -> list[str]:
    cached = [title for title, one in shown if any(run["page_cache"] == "synced" for run in one.get("runs", []))
              and title != "none"]
    notes = [f"through the page cache, and synced within the total: {', '.join(cached)}"] if cached else []
    notes += [f"{title}: {one['note']}" for title, one in shown if "note" in one]
    return notes + [f"{title} failed: {one['error']}" for title, one in shown if "error" in one]


def conclusion(document: dict[str, Any]) -> str:
    """Returns one sentence on the C/W nearest to 1 and the best writer with tailrace; for an ablation, on tailrace's
    default."""
    point = min(document["points"], key=lambda one: _distance(one["c_over_w_asked"]))
    rungs = {rung["name"]: rung["series"] for rung in document.get("ablation", []) if rung["name"] == "direct"}
    ways = {title: one for title, one in (rungs or point["series"]).items()
            if "summary" in one and one["writer"] == "tailrace"}
    if not ways:
        return ""
    title = min(ways, key=lambda one: float(ways[one]["summary"]["total"]["median"]))
    best, sync = ways[title]["summary"], point["series"]["sync"]["summary"]
    total, before = best["total"]["median"], sync["total"]["median"]
    where = f"At C/W = {_measured(point)}"
    name = "tailrace" if rungs else title
    took, instead = quantity.format_time(total), quantity.format_time(before)
    text = (f"{where} the program {'' if total < before else 'was slower: it '}took {took} with {name} instead of "
            f"{instead} synchronously ({100 * abs(1 - total / before):.0f} % {'less' if total < before else 'more'})")
    if "overlap" in best:
        overlap = best["overlap"]["median"]
        text += (f": {100 * overlap:.1f} % of the time spent waiting for output is gone" if overlap > 0 else
                 ": it waited no less for output")
    slower = best["slowdown"]["median"]
    text += f", computing was {100 * abs(slower):.1f} % {'slower' if slower >= 0 else 'faster'} than without output"
    limit = f", and it took {best['to_limit']['median']:.2f} × the limit" if "to_limit" in best else ""
    return f"{text}{limit}."


def ablation(document: dict[str, Any]) -> str:
    """Says in a sentence what each of tailrace's measures changes."""
    rungs = {rung["name"]: rung["series"]["summary"]["total"]["median"] for rung in document.get("ablation", [])
             if "summary" in rung["series"]}
    parts = [f"{after} instead of {before} {100 * (rungs[after] / rungs[before] - 1):+.1f} %"
             for before, after in _PAIRS if before in rungs and after in rungs]
    return f"What tailrace's measures change in the time in total: {'; '.join(parts)}." if parts else ""


def prediction(document: dict[str, Any], settings: Settings | None) -> str:
    """Reports the largest deviation of a measurement from its prediction, and the command that repeats it."""
    found = list(_predicted(document))
    if not found:
        return ""
    point, title, one = max(found, key=lambda entry: abs(float(entry[2]["deviation"])))
    predicted, measured = map(quantity.format_time, (one["predicted_seconds"], one["summary"]["total"]["least"]))
    medians = max((float(one["deviation_of_medians"]) for _, _, one in found), key=abs)
    text = ("Predicted from C, W and copies measured by themselves in the same rounds: the largest deviation of "
            f"{len(found)} is {100 * one['deviation']:+.1f} %, "
            f"{title} at C/W = {_measured(point)}: predicted {predicted} by {one['model']} from the least of each, "
            f"measured {measured} at least (medians from medians: {100 * medians:+.1f} % at most).")
    told = [series["within_interval"] for _, _, series in found if "within_interval" in series]
    if told:
        text += (f" Of {len(told)} medians {sum(told)} lie in the interval of their prediction, which is what the "
                 "inputs' own spread over the rounds makes of it.")
    if settings is None or "name" not in one:
        return text
    again = dataclasses.replace(settings, writers=(one["name"],), ablation=False)
    if again.compute_seconds is None:
        again = dataclasses.replace(again, ratios=(point["c_over_w_asked"],))
    return f"{text}\n  again: {command.line(again)}"


def _predicted(document: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, _Series]]:
    for point in document["points"]:
        rungs = [(rung["name"], rung["series"]) for rung in document.get("ablation", [])]
        for title, one in [*point["series"].items(), *rungs]:
            if one.get("deviation") is not None:
                yield point, title, one


def doubts(document: dict[str, Any]) -> list[str]:
    """Lists what a reader must know before trusting the numbers."""
    found = []
    spreads = [(float(one["summary"]["total"]["most"]) / one["summary"]["total"]["least"], point, title, one)
               for point in document["points"] for title, one in point["series"].items()
               if "summary" in one and one["summary"]["total"]["least"] > 0]
    unrest, point, title, one = max(spreads, key=lambda entry: entry[0], default=(1.0, {}, "", {}))
    if unrest > 1.1:
        total = one["summary"]["total"]
        found.append(f"The machine or its storage was busy with other things"
                     f"{steal.unrest(document.get('steal', {}))}: the same run ({title} at C/W = "
                     f"{_measured(point)}) took from {quantity.format_time(total['least'])} to "
                     f"{quantity.format_time(total['most'])}, so believe no ratio more closely than that. "
                     f"{ADVICE}.")
    found += steal.told(document.get("steal", {}))
    if document["settings"]["repeats"] < 5:
        found.append(f"{quantity.counted(document['settings']['repeats'], 'round')} tell little of the spread.")
    fit = document["measured"].get("write_saturation") if document.get("measured") else None
    if fit and fit["r2"] < _STRAIGHT:
        found.append(f"W by saturation is no constant here: a line describes it badly (R² {fit['r2']:.3f}), so the "
                     "predictions that use it are rough; more --bytes may help.")
    for point in document["points"]:
        hashes = {run.get("result_hash") for one in point["series"].values() for run in one.get("runs", [])}
        if len(hashes) > 1:
            found.append(f"The runs at C/W = {_measured(point)} did not all compute the same result.")
    under = [title for point in document["points"] for title, one in point["series"].items()
             if one.get("summary", {}).get("to_limit", {}).get("median", 1.0) < 0.98]
    if under:
        found.append(f"Below the limit: {', '.join(dict.fromkeys(under))}. W of the limit is that of the synchronous "
                     "runs, which keep one transfer under way where tailrace keeps several.")
    return found


def _number(count: float) -> str:
    """12345 → "12k"."""
    return f"{count:.0f}" if count < 1e4 else f"{count / 1e3:.0f}k" if count < 1e7 else f"{count / 1e6:.0f}M"


def _distance(ratio: float) -> float:
    return max(ratio, 1 / ratio) if ratio > 0 else float("inf")


def _measured(point: dict[str, Any]) -> str:
    return _ratio(point["compute_seconds"], point["write_seconds"])


def _ratio(compute: float, write: float) -> str:
    return f"{compute / write:.3g}" if write > 0 else "∞"
