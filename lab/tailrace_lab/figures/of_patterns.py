"""The tables of programs that compute and write in turn: a function for each. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace import quantity

from .documents import Value
from .markdown import NONE, deciding, percent, ratios, spread, spread_of, table, wrapped

_ALLOC, _WRITE = "tailrace alloc", "tailrace write"
_PLAIN = "time / plain"  # what the connector's bars compare, in most rows
_BELOW = "²"  # the mark of a total below the limit
_MIB = float(1 << 20)


def sweep(document: Value) -> str:
    """Returns the totals at each C/W, by the limit and beside the prediction."""
    head = ["C/W", "`sync`: total / limit", "deviation, %", "`alloc`/`commit`", "deviation, %", "`write` ¹",
            "deviation, %"]
    rows = []
    for point in _points(document):
        cells = [f"{_ratio(point):.2f}"]
        for title in ("sync", _ALLOC, _WRITE):
            series = _series(point, title)
            off = series.get("deviation") if series else None
            cells += [ratios(series["summary"]["to_limit"]) if series else NONE, percent(off) if off else NONE]
        rows.append(cells)
    return table(head, rows)


def readme(document: Value) -> str:
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
    text = table(["C/W", "synchronous", "tailrace, `alloc`/`commit`", "tailrace, `write` ¹"], rows)
    note = "¹ The limit here includes one memcpy per iteration."
    if below:
        note += (f" {_BELOW} tailrace can be faster than this limit: it keeps eight transfers in flight, and the "
                 "synchronous writer that measures W keeps one.")
    text += f"\n\n{wrapped(note)}"
    if deviations:
        most = percent(max(deviations), "")
        text += "\n\n" + wrapped(f"The predictions of `tailrace predict` differ from these runs by at most {most} %.")
    return text


def gain(*documents: Value) -> str:
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
    return table(["storage", "C/W", "can be gained, %", "gained by `alloc`/`commit`, %", "by `write`, %"], rows)


def ablation(document: Value) -> str:
    """Returns the rungs of the ladder, with the synchronous runs above."""
    rows = [_rung("synchronous", one["series"]["sync"]) for one in document["points"]]
    rows += [_rung(one["name"].text(), one["series"]) for one in document["ablation"]]
    return table(["", "total / limit", "waiting, s", "computing slowed, %"], rows)


def _rung(name: str, series: Value) -> list[str]:
    if series.get("error"):
        return [name, "could not run", NONE, NONE]
    summary = series["summary"]
    return [name, ratios(summary["to_limit"]), quantity.three(summary["waiting"]["median"].number()),
            percent(summary["slowdown"]["median"])]


def lent(document: Value) -> str:
    """Returns the totals with lent arrays, on pages and at odd addresses, and with `write`."""
    titles = ("tailrace borrow", "tailrace borrow unaligned", _WRITE)
    rows = []
    for point in _points(document):
        each = [_series(point, title) for title in titles]
        rows.append([f"{_ratio(point):.2f}", *(ratios(one["summary"]["to_limit"]) if one else NONE for one in each)])
    return table(["C/W", "`borrow`, arrays on pages", "`borrow`, at odd addresses ¹", "`write` ¹"], rows)


def triad(document: Value) -> str:
    """Returns how much each writer slows a computation that needs all memory bandwidth."""
    n = document["settings"]["iterations"].number()
    rows = []
    for point in _points(document):
        for title, series in point["series"].members():
            if title == "sync" or series.get("error"):
                continue
            summary = series["summary"]
            slowed = "" if title == "none" else spread(summary["slowdown"], 100, "{:+.1f}".format)
            rows.append([_named(title), spread(summary["computing"], 1e3 / n), slowed])
    return table(["", "computing, ms an iteration", "slowed, %"], rows)


def peers(document: Value) -> str:
    """Returns tailrace beside other libraries."""
    points = _points(document)
    middle = points[len(points) // 2]
    n = document["settings"]["iterations"].number()
    head = ["", *(f"total / limit at C/W {_ratio(one):.2f}" if one is points[0] else f"{_ratio(one):.2f}"
                  for one in points),
            f"waiting, ms, at {_ratio(middle):.2f}", "peak memory, MiB", "lines of user code"]
    rows = []
    for title, first in middle["series"].members():
        if first.get("error"):
            continue
        each = [_series(point, title) for point in points]
        totals = [f"{one['summary']['to_limit']['median'].number():.2f}" if one and one["summary"].get("to_limit")
                  else NONE for one in each]
        summary, lines = first["summary"], first.get("user_lines")
        waiting = f"{1e3 / n * summary['waiting']['median'].number():.2f}" if title != "none" else NONE
        language = first.get("user_language")
        rows.append([title, *totals, waiting, f"{summary['peak_memory']['median'].number() / _MIB:.0f}",
                     f"{lines.number():.0f} {language.text() if language else ''}".strip() if lines and lines.value
                     else NONE])
    return table(head, rows)


def cube(document: Value) -> str:
    """Returns each way to write a remapped profile."""
    names = {"none": "computing alone", "sync": "synchronous", "naive": "naive: POSIX AIO",
             "pinned": "pinned: with its thread on a cpu of its own",
             "aligned": "aligned: with buffers on cache lines of their own, too"}
    rows = []
    for way in document["ways"]:
        name = way["name"].text()
        rows.append([names.get(name, name), spread_of(way, "seconds", quantity.three),
                     f"{way['to_limit'].number():.2f}",
                     "" if name == "none" else percent(way["saved"], ""),
                     "" if name == "none" else percent(way["slowdown"])])
    return table(["", "total, s", "× limit", "saved, %", "computing slowed, %"], rows)


def pitz_daily(document: Value) -> str:
    """Returns each way of a solver of OpenFOAM to write."""
    rows = []
    for study in document["studies"]:
        often = f"each {study['interval'].number():.0f} of {study['steps'].number():.0f} steps"
        for name, way in study["ways"].members():
            overlap = way.get("overlap")
            writes = name != next(iter(study["ways"].value))
            rows.append([often if not writes else "", name, spread_of(way, "total", "{:.2f}".format),
                         f"{way['lost'].number():.2f}" if writes else "",
                         percent(overlap, "") if overlap and writes else ""])
    return table(["output after", "way", "total, s", "lost, s", "overlap, %"], rows)


def hdf5(document: Value) -> str:
    """Returns HDF5 programs with the connector beside plain HDF5."""
    rows = []
    for row in document["rows"]:
        limit, met = row.get("bar"), row.get("met")
        bar = f"{'≥' if row['at_least'].value else '≤'} {limit.number():g}" if limit else ""
        title, what = row["title"].text(), row["what"].text()
        times = [quantity.three(row[key]["median"].number()) if row.get(key) else "" for key in ("plain", "carried")]
        rows.append([title if what == _PLAIN else f"{title}: {what}", *times,
                     spread(row["ratio"], form=deciding(limit)),
                     bar + (": **missed**" if met is not None and not met.value else "")])
    return table(["", "plain, s", "carried, s", f"{_PLAIN}, unless it says", "bar"], rows)


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


def _series(point: Value, title: str) -> Value | None:
    """Returns a series; None if it is not there or could not run."""
    found = point["series"].get(title)
    return None if found is None or found.get("error") else found


def _named(title: str) -> str:
    return f"`{title.removeprefix('tailrace ')}`" if title != "none" else title


