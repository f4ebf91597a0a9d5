"""The tables of programs that compute and write in turn: a function for each. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tailrace import quantity

from .cells import Better, Grid, Name, Ratio, of_others
from .documents import Value
from .markdown import NONE, deciding, percent, ratios, share, spread, spread_of, wrapped

_ALLOC, _WRITE = "tailrace alloc", "tailrace write"
_PLAIN = "time / plain"  # what the connector's bars compare, in most rows
_SAME = "the same, "
_DEVIATION = "deviation, %"
_BELOW = "²"  # the mark of a total below the limit
_MIB = float(1 << 20)


def sweep(document: Value) -> Grid:
    """Returns the totals at each C/W, by the limit and beside the prediction."""
    head = ["C/W", "`sync`: total / limit", Name(_DEVIATION, "`sync`: deviation, %"), "`alloc`/`commit`",
            Name(_DEVIATION, "`alloc`/`commit`: deviation, %"), "`write` ¹",
            Name(_DEVIATION, "`write`: deviation, %")]
    rows = []
    for point in _points(document):
        cells: list[str] = [_at(point)]
        for title in ("sync", _ALLOC, _WRITE):
            series = _series(point, title)
            off = series.get("deviation") if series else None
            total: str = ratios(series["summary"]["to_limit"]) if series else NONE
            cells += [of_others(total) if title == "sync" else total,
                      share(off.number()).changed(value=abs(off.number())) if off else NONE]
        rows.append(cells)
    return Grid(head, rows)


def readme(document: Value) -> Grid:
    """Returns the README's table, its notes, and how good the predictions were."""
    rows, deviations, below = [], [], False
    for point in _points(document):
        cells = [f"{_ratio(point):.2f}"]
        for title in ("sync", _ALLOC, _WRITE):
            series = _series(point, title)
            shown = f"{series['summary']['to_limit']['median'].number():.2f}" if series else NONE
            marked = series is not None and float(shown) < 1
            below = below or marked
            cells.append(f"{shown} ×{f' {_BELOW}' if marked else ''}" if series else NONE)
            off = series.get("deviation") if series else None
            deviations += [abs(off.number())] if off else []
        rows.append(cells)
    note = "¹ The limit here includes one memcpy per iteration."
    if below:
        note += (f" {_BELOW} tailrace can be faster than this limit: it keeps eight transfers in flight, and the "
                 "synchronous writer that measures W keeps one.")
    text = f"\n\n{wrapped(note)}"
    if deviations:
        most = percent(max(deviations), "")
        text += "\n\n" + wrapped(f"The predictions of `tailrace predict` differ from these runs by at most {most} %.")
    return Grid(["C/W", "synchronous", "tailrace, `alloc`/`commit`", "tailrace, `write` ¹"], rows, text)


def gain(*documents: Value) -> Grid:
    """Returns the share of the synchronous total that is gained near C = W, beside what can be gained."""
    rows = []
    for document in documents:
        point = min(_points(document), key=lambda one: abs(_ratio(one) - 1))
        n = document["settings"]["iterations"].number()
        c, w = point["compute_seconds"].number(), point["write_seconds"].number()
        synchronous = point["series"]["sync"]["summary"]["total"]["median"].number()
        cells = [next((one["filesystem"].text() for one in document["storage"]), NONE), f"{c / w:.2f}",
                 percent((n - 1) * min(c, w) / (n * (c + w)), "")]
        for title in (_ALLOC, _WRITE):
            series = _series(point, title)
            cells.append(percent(1 - series["summary"]["total"]["median"].number() / synchronous, "")
                         if series else NONE)
        rows.append(cells)
    return Grid(["storage", "C/W", "can be gained, %", "gained by `alloc`/`commit`, %", "by `write`, %"], rows)


def ablation(document: Value) -> Grid:
    """Returns the rungs of the ladder, with the synchronous runs above."""
    rungs = [("synchronous", one["series"]["sync"]) for one in document["points"]]
    rungs += [(one["name"].text(), one["series"]) for one in document["ablation"]]
    rows = [[of_others(cell) for cell in _rung(name, one)] if name.startswith(("synchronous", "naive"))
            else _rung(name, one) for name, one in rungs]
    return Grid(["", "total / limit", "waiting, s", "computing slowed, %"], rows)


def _rung(name: str, series: Value) -> list[str]:
    if series.get("error"):
        return [name, "could not run", NONE, NONE]
    summary = series["summary"]
    return [name, ratios(summary["to_limit"]), quantity.three(summary["waiting"]["median"].number()),
            share(summary["slowdown"]["median"].number())]


def lent(document: Value) -> Grid:
    """Returns the totals with lent arrays, on pages and at odd addresses, and with `write`."""
    titles = ("tailrace borrow", "tailrace borrow unaligned", _WRITE)
    rows = []
    for point in _points(document):
        each = [_series(point, title) for title in titles]
        rows.append([_at(point), *(ratios(one["summary"]["to_limit"]) if one else NONE for one in each)])
    return Grid(["C/W", "`borrow`, arrays on pages", "`borrow`, at odd addresses ¹", "`write` ¹"], rows)


def triad(document: Value) -> Grid:
    """Returns how much each writer slows a computation that needs all memory bandwidth."""
    n = document["settings"]["iterations"].number()
    rows = []
    for point in _points(document):
        for title, series in point["series"].members():
            if title == "sync" or series.get("error"):
                continue
            summary = series["summary"]
            slowed = ratios(summary["slowdown"]).changed(
                text=spread(summary["slowdown"], 100, "{:+.1f}".format), share=True)
            rows.append([_named(title), spread(summary["computing"], 1e3 / n),
                         "" if title == "none" else of_others(slowed) if title == "bare" else slowed])
    return Grid(["", "computing, ms an iteration", "slowed, %"], rows)


def peers(document: Value) -> Grid:
    """Returns tailrace beside other libraries."""
    points = _points(document)
    middle = points[len(points) // 2]
    n = document["settings"]["iterations"].number()
    head = ["", *(Name(f"total / limit at C/W {_ratio(one):.2f}" if one is points[0] else f"{_ratio(one):.2f}",
                       f"total / limit at {_at(one).key}") for one in points),
            f"waiting, ms, at {_ratio(middle):.2f}", "peak memory, MiB", "lines of user code"]
    rows = []
    for title, first in middle["series"].members():
        if first.get("error"):
            continue
        each = [_series(point, title) for point in points]
        totals = [_total(one["summary"]["to_limit"]) if one and one["summary"].get("to_limit") else NONE
                  for one in each]
        if not title.startswith("tailrace"):
            totals = [of_others(one) for one in totals]
        summary, lines = first["summary"], first.get("user_lines")
        waiting = f"{1e3 / n * summary['waiting']['median'].number():.2f}" if title != "none" else NONE
        language = first.get("user_language")
        rows.append([Name(title, re.sub(r" [\d.]+\b", "", title)), *totals, waiting,
                     f"{summary['peak_memory']['median'].number() / _MIB:.0f}",
                     f"{lines.number():.0f} {language.text() if language else ''}".strip() if lines and lines.value
                     else NONE])
    return Grid(head, rows)


def _total(summary: Value) -> Ratio:
    """Returns a total / limit without its spread, for which the table has no room."""
    return ratios(summary).changed(text=f"{summary['median'].number():.2f}")


def cube(document: Value) -> Grid:
    """Returns each way to write a remapped profile."""
    names = {"none": "computing alone", "sync": "synchronous", "naive": "naive: POSIX AIO",
             "pinned": "pinned: with its thread on a cpu of its own",
             "aligned": "aligned: with buffers on cache lines of their own, too"}
    rows = []
    for way in document["ways"]:
        name = way["name"].text()
        to_limit, more = way["to_limit"].number(), ["", ""]
        if name != "none":
            more = [share(way["saved"].number(), "", Better.MORE), share(way["slowdown"].number())]
        cells = [Ratio(f"{to_limit:.2f}", to_limit), *more]
        rows.append([names.get(name, name), spread_of(way, "seconds", quantity.three),
                     *(cells if name == "tailrace" else map(of_others, cells))])
    return Grid(["", "total, s", "× limit", "saved, %", "computing slowed, %"], rows)


def pitz_daily(document: Value) -> Grid:
    """Returns each way of a solver of OpenFOAM to write."""
    rows = []
    for study in document["studies"]:
        often = f"each {study['interval'].number():.0f} of {study['steps'].number():.0f} steps"
        for name, way in study["ways"].members():
            overlap = way.get("overlap")
            hidden = share(overlap.number(), "", Better.MORE) if overlap else ""
            writes = name != next(iter(study["ways"].value))
            rows.append([Name(often if not writes else "", f"output {percent(study['share'], '')} %, {name}"), name,
                         spread_of(way, "total", "{:.2f}".format),
                         f"{way['lost'].number():.2f}" if writes else "",
                         "" if not writes else hidden if name.startswith("tailrace") else of_others(hidden)])
    return Grid(["output after", "way", "total, s", "lost, s", "overlap, %"], rows)


def hdf5(document: Value) -> Grid:
    """Returns HDF5 programs with the connector beside plain HDF5."""
    rows: list[list[str]] = []
    of = ""  # the latest title of its own; "the same, at random" has another one before it
    for row in document["rows"]:
        limit, met = row.get("bar"), row.get("met")
        bar = f"{'≥' if row['at_least'].value else '≤'} {limit.number():g}" if limit else ""
        title, what = row["title"].text(), row["what"].text()
        same = title.startswith(_SAME)
        of = of if same else title
        full, more = f"{of}, {title.removeprefix(_SAME)}" if same else title, "" if what == _PLAIN else f": {what}"
        times = [quantity.three(row[key]["median"].number()) if row.get(key) else "" for key in ("plain", "carried")]
        better = Better.MORE if row["at_least"].value else Better.LESS
        found: str = ratios(row["ratio"], deciding(limit), better)
        if what.startswith("s, "):
            found = str(found)  # a time
        rows.append([Name(title + more, full + more), *times, found,
                     bar + (": **missed**" if met is not None and not met.value else "")])
    return Grid(["", "plain, s", "carried, s", Name(f"{_PLAIN}, unless it says", ""), "bar"], rows)


def _points(document: Value) -> Sequence[Value]:
    points = sorted(document["points"], key=_ratio)
    if not points:
        raise document.fault("an empty list", "some points", "points")
    return points


def _ratio(point: Value) -> float:
    w = point["write_seconds"].number()
    if w <= 0:
        raise point.fault(f"{w:g} s", "more than 0 s", "write_seconds")
    return point["compute_seconds"].number() / w


def _at(point: Value) -> Name:
    """Returns the cell of a point's C/W, named by the one that was asked for: the measured one differs each time."""
    return Name(f"{_ratio(point):.2f}", f"C/W {point['c_over_w_asked'].number():g}")


def _series(point: Value, title: str) -> Value | None:
    """Returns a series; None if it is not there or could not run."""
    found = point["series"].get(title)
    return None if found is None or found.get("error") else found


def _named(title: str) -> str:
    return f"`{title.removeprefix('tailrace ')}`" if title != "none" else title


