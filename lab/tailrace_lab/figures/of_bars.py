"""The tables of studies that compare ways, or have bars: a function for each. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tailrace import quantity

from .cells import Grid, Name, Ratio, of_others
from .documents import Value
from .markdown import BAR_HEAD, NONE, bar_row, deciding, missing, quotient, ratio, ratios, spread

_MPIS = {"openmpi": "Open MPI", "mpich": "MPICH", "system": "this machine's MPI"}
_OPENING = re.compile(r"^open in place |first write of|later ones' median$")
_OF_OTHERS = ("pwrite", "HDF5 and", "memcpy")  # programs beside whose bars ours stand
_NUMBERS = re.compile(r", \d+ ranks?| for [\d.]+ \w+$| \d+ times? beside \d+ clients?|, of \d+ of .*$")  # by run
_SHORTER = ((r", of \d+ iterations of .*, fio loading the disk$", ", beside fio"), (r" \(seed \d+\)", ""),
            (r"the kernel's time beside place core / without output$", "kernel, core / alone"),
            (r": the client's time$", ""), (r"\bopenmpi\b", "Open MPI"), (r"\bmpich\b", "MPICH"),
            (r"^(core, its server with it|core, the server running|thread): ", "… "))


def opening(document: Value) -> Grid:
    """Returns what `open` takes, and the first output after it."""
    return _bars(document, lambda bar: _OPENING.search(bar["name"].text()) is not None)


def core(document: Value) -> Grid:
    """Returns what place core costs: what has a bar, and what it is compared with."""
    def shown(bar: Value) -> bool:
        name = bar["name"].text()
        if _OPENING.search(name):
            return False
        return bar.get("bar") is not None or bar["unit"].text() == "×" or name.startswith(("waking", "rate of"))

    return _bars(document, shown)


def busy(document: Value) -> Grid:
    """Returns the totals by those of synchronous output, by the number of busy loops, for each verb and place; the
    medians alone, so that a row fits into a line."""
    form = re.compile(r"(.+): (\w+), place (\w+) / synchronous$")
    rows: dict[str, dict[str, str]] = {}
    for bar in document["bars"]:
        match = form.match(bar["name"].text())
        if match:
            beside, verb, place = match.groups()
            median = bar["median"].number()
            shown = deciding(bar.get("bar"), ratio)(median)
            rows.setdefault(beside, {})[f"`{verb}`, {place}"] = Ratio(
                shown if bar["met"].value else f"**{shown}**", median, (bar["least"].number(), bar["most"].number()))
    ways = list(dict.fromkeys(way for cells in rows.values() for way in cells))
    return Grid(["beside", *ways], [[beside, *(cells.get(way, NONE) for way in ways)]
                                    for beside, cells in rows.items()])


def forward(document: Value) -> Grid:
    """Returns what a forwarder takes, beside TLS alone and the disk."""
    return _bars(document, lambda bar: True)


def small_bars(document: Value) -> Grid:
    """Returns the bars of small requests; that bytes are right only if they are not."""
    return _bars(document, lambda bar: "bytes that are wrong" not in bar["name"].text() or not bar["met"].value)


def _bars(document: Value, shown: Callable[[Value], bool]) -> Grid:
    rows = []
    for bar in document["bars"]:
        if shown(bar):
            name = bar["name"].text()
            for pattern, short in _SHORTER:
                name = re.sub(pattern, short, name)
            row = bar_row(bar, Name(name, _NUMBERS.sub("", name)))
            rows.append([of_others(cell) for cell in row] if name.startswith(_OF_OTHERS) else row)
    return Grid(BAR_HEAD, rows, missing(document))


def small(document: Value) -> Grid:
    """Returns the times of small requests, by pattern and way."""
    patterns: dict[str, dict[str, Value]] = {}
    for cell in document["cells"]:
        patterns.setdefault(cell["pattern"].text(), {})[cell["way"].text()] = cell
    every = [way for cells in patterns.values() for way in cells]
    peers = list(dict.fromkeys(way.split(",")[0] for way in every if "ranks" in way))
    rows = []
    for pattern, cells in patterns.items():
        best = [min((way for way in cells if way.startswith(f"{mpi},")), key=lambda way: _median(cells[way]),
                    default="") for mpi in peers]
        on, off = cells.get("compactor on"), cells.get("compactor off")
        if on is None or off is None:
            raise document.fault(f"no compactor {'off' if on else 'on'} of {pattern}", "both", "cells")
        rows.append([f"`{pattern}`", quotient(spread(on, 1e3), _median(on), _median(off), "off", summary=on),
                     _ms(off), _ms(cells.get("pwrite")),
                     *(f"{_ms(cells[way])} ({_ranks(way)})" if way else NONE for way in best),
                     _ms(cells.get("limit")), f"{on['transfers'].number():.0f} / {off['transfers'].number():.0f}"])
    names = [f"{_MPIS.get(mpi, mpi)} (ranks)" for mpi in peers]
    return Grid(["ms", "compactor on", "off", "pwrite", *names, "limit", "writes on / off"], rows)


def _median(cell: Value) -> float:
    return cell["median"].number()


def _ms(cell: Value | None) -> str:
    return quantity.three(1e3 * _median(cell)) if cell else NONE


def _ranks(way: str) -> str:
    return way.split(", ")[1].split()[0]


def jitter(document: Value) -> Grid:
    """Returns the mean and the worst time of a process's output, by way."""
    ways = {"hdf5": "file per process (HDF5, synced)", "collective": "one file (MPI-IO)", "thread": "place thread",
            "core": "place core"}
    rows: dict[str, dict[str, Value]] = {}
    for cell in document["cells"]:
        words = [quantity.format_size(cell["bytes"].number())]
        words += [word for key, word in (("compress", "zstd"), ("load", "fio")) if cell[key].value]
        rows.setdefault(", ".join(words), {})[cell["way"].text()] = cell
    shown = [way for way in ways if any(way in cells for cells in rows.values())]
    return Grid(["a process's block", *(ways[way] for way in shown)],
                [[name, *(_of_process(way, cells.get(way), cells.get("hdf5")) for way in shown)]
                 for name, cells in rows.items()])


def _of_process(way: str, cell: Value | None, hdf5: Value | None) -> str:
    """Returns the mean and the worst time of a way; the mean of tailrace's also by that of a file per process."""
    if cell is None:
        return NONE
    text = ", ".join(quantity.format_time(cell[key].number()) for key in ("mean", "worst"))
    if hdf5 is None or way not in ("thread", "core"):
        return text
    return quotient(text, cell["mean"].number(), hdf5["mean"].number(), "the mean of a file per process")


def mpiio(document: Value) -> Grid:
    """Returns the time to write, by that of the better MPI."""
    return _by_better(document, "time / ", lambda cell: cell["median"].number())


def mpiio_reading(document: Value) -> Grid:
    """Returns the time to read back, by that of the better MPI."""
    return _by_better(document, "time to read / ", lambda cell: cell["reading"].number())


def _by_better(document: Value, what: str, time: Callable[[Value], float]) -> Grid:
    """Makes a row of each pattern, and a column of each way whose algorithm is chosen by itself."""
    form = re.compile(rf"(\w+): {re.escape(what)}(MPICH|Open MPI), tailrace over (.+), (\w+), auto$")
    patterns: dict[str, dict[str, str]] = {}
    better: dict[str, str] = {}
    for bar in document["bars"]:
        match = form.match(bar["name"].text())
        if match:
            pattern, best, mpi, place = match.groups()
            patterns.setdefault(pattern, {})[f"{place} over {mpi}"] = _judged(bar, ratio)
            better[pattern] = best
    seconds = {(cell["pattern"].text(), cell["way"].text()): cell for cell in document["cells"]
               if not cell["computes"].value}
    ways = list(dict.fromkeys(way for cells in patterns.values() for way in cells))
    rows = [[Name(f"`{pattern}`, {seconds[pattern, better[pattern]]['ranks'].number():.0f} ranks", f"`{pattern}`"),
             f"{better[pattern]}, {quantity.format_time(time(seconds[pattern, better[pattern]]))}",
             *(cells.get(way, NONE) for way in ways)]
            for pattern, cells in patterns.items() if (pattern, better[pattern]) in seconds]
    return Grid(["pattern", "the better MPI", *ways], rows)


def _judged(bar: Value, form: Callable[[float], str], factor: float = 1.0) -> Ratio:
    """Returns a bar's values, bold if it is missed."""
    limit, met = bar.get("bar"), bar.get("met")
    shown = spread(bar, factor, deciding(limit, form, factor))
    return ratios(bar).changed(text=f"**{shown}**" if met and not met.value else shown, share=factor == 100)


def mpiio_computing(document: Value) -> Grid:
    """Returns how much of a write a program that computes notices."""
    columns: Sequence[tuple[str, str, float, Callable[[float], str]]] = (
        ("share of the write that is not hidden", "not hidden, %", 100, "{:.1f}".format),
        ("slower by", "computing slowed, %", 100, "{:+.1f}".format),
        ("share of the read that is not hidden", "of reads not hidden, %", 100, "{:.1f}".format),
        ("waiting in write_all / a memcpy", "waiting in `write_all` / memcpy", 1, ratio))
    names = {"computing": "contiguous"}
    ways: dict[str, list[str]] = {}
    for bar in document["bars"]:
        for number, (name, _, factor, form) in enumerate(columns):
            match = re.match(rf"(\w*computing): {name}, (.+)", bar["name"].text())
            if match:
                pattern = names.get(match[1], match[1].removesuffix("_computing"))
                cells = ways.setdefault(f"`{pattern}`, {match[2].replace(', auto', '')}", [NONE] * len(columns))
                cell = _judged(bar, form, factor)
                cells[number] = cell if match[2].startswith("tailrace") else of_others(cell)
    return Grid(["", *(title for _, title, _, _ in columns)], [[way, *cells] for way, cells in ways.items()])


def mpiio_calls(document: Value) -> Grid:
    """Returns what opening a file and a view of many extents take."""
    titles: Sequence[tuple[str, str]] = (
        (r"contiguous: time to open and close a small file / the MPI alone", "opening and closing / alone"),
        (r"extents: setting the view", "setting the view"),
        (r"extents: an extent in the call, beside the copying", "an extent, without the copying"))
    rows = []
    for bar in document["bars"]:
        for form, title in titles:
            match = re.match(rf"{form}, (.+)", bar["name"].text())
            if match:
                rows.append(bar_row(bar, f"{title}: {match[1].replace(', auto', '')}"))
    return Grid(BAR_HEAD, rows)
