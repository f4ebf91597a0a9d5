#!/usr/bin/env python3
"""An HDF5 program with tailrace's connector beside the same with plain HDF5: times, and the bars they have to meet.

    make bench-hdf5 ARGS="--dir /scratch --rounds 5"
    make bench-hdf5 ARGS="--json out/bench/hdf5.json"      and writes them, for the tables of docs
    make bench-hdf5 ARGS="--vol-async /opt/vol-async"      and the peer, which must be installed (vol_async.py)

Every line is from runs in separate processes (hdf5_bench), the two kinds in turn, each into a new file; before each
run the files of the last one are removed and synced. Ratios are of the runs of one round; their median is compared
with the bar.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import vol_async

import tailrace
from tailrace.cli.run import PLUGINS
from tailrace_lab.bench import machine

PROGRAM = pathlib.Path(__file__).parents[2] / "build/release/lab/hdf5/hdf5_bench"
Report = dict[str, Any]

# Patterns that gain nothing, and must not lose: title, count, and the options of the program.
LITTLE = (
    ("rows of 512 bytes, read back", "100000", "back"),
    ("the same, at random", "100000", "back", "--random"),
    ("rows of 512 bytes, added to", "100000", "add"),
    ("the same, at random", "100000", "add", "--random"),
    ("rows of 64 KiB appended, deflate", "5000", "append"),
    ("rows of 4 KiB, each flushed", "20000", "flush"),
    ("30 KiB datasets, rows of 512 B", "5000", "parts", "--bytes", "30720", "--row", "512"),
    ("4 KiB datasets, rows of 256 B", "20000", "parts", "--bytes", "4096", "--row", "256"),
    ("files with 80 kB", "1000", "files"),
)
LITTLE_BAR = 1.05
# Loops that remove or replace what earlier iterations have written: title, and pattern.
LOOPS = (
    ("the last three files kept", "keep"),
    ("a file renamed over the last one", "replace"),
    ("the same file again", "overwrite"),
    ("the last three datasets kept", "delete"),
)
LOOP_BAR = 1.0
# Fields that the program syncs after the close: title, settings of the connector, and the options of the program.
SYNCED = (
    ("fields, synced", ""),
    ("fields, synced, place core", "place=core"),
    ("fields in chunks, synced", "", "--chunks"),
)
FIRST_WRITE_BAR = 0.030  # seconds


@dataclass(frozen=True)
class Pattern:
    """A pattern, and the bar for its ratio."""

    title: str
    options: tuple[str, ...]
    ratio: Callable[[Report, Report], float]  # of (plain, carried)
    what: str
    bar: float | None  # None: only shown
    at_least: bool = False
    words: str = ""  # additional settings of the connector

    def met(self, ratio: float) -> bool:
        if self.bar is None:
            return True
        return ratio >= self.bar if self.at_least else ratio <= self.bar


def over_limit(plain: Report, carried: Report) -> float:
    """Returns the total divided by the limit: computing and writing at once, and a copy of each field."""
    count = carried["iterations"]
    compute, write = plain["computing"] / count, (plain["writing"] + plain["closing"]) / count
    return carried["total"] / (compute + write + (count - 1) * max(compute, write) + count * carried["copy"])


def over_durable_limit(plain: Report, carried: Report) -> float:
    """Returns the same for data that a sync makes durable: writing takes what it takes past the page cache."""
    count = carried["iterations"]
    compute, write = plain["computing"] / count, carried["direct"]
    return carried["total"] / (compute + write + (count - 1) * max(compute, write) + count * carried["copy"])


def patterns(quick: bool, passes: int) -> list[Pattern]:
    size = str(1 << 20 if quick else 128 << 20)
    many = "1000" if quick else "100000"
    slabs = ("--pattern", "read", "--iterations", "16", "--bytes", str(1 << 18 if quick else 32 << 20),
             "--passes", str(passes * 10 // 47))
    fields = ("--pattern", "fields", "--bytes", size, "--passes", str(passes))
    first = lambda plain, carried: carried["first"]
    speed = lambda plain, carried: plain["total"] / carried["total"]
    reading = lambda plain, carried: carried["reading"] / plain["reading"]
    return [
        Pattern("fields", fields, over_limit, "total / (limit + a copy of each)", 1.05),
        Pattern("fields", fields, lambda plain, carried: carried["computing"] / plain["computing"],
                "computing / plain", 1.03),
        Pattern("fields", fields, first, "s, the first write", FIRST_WRITE_BAR),
        Pattern("fields, place core", fields, over_limit, "total / (limit + a copy of each)", 1.05,
                words="place=core"),
        Pattern("fields, place core", fields, lambda plain, carried: carried["computing"] / plain["computing"],
                "computing / plain", 1.03, words="place=core"),
        Pattern("fields, place core", fields, first, "s, the first write", FIRST_WRITE_BAR, words="place=core"),
        *(Pattern(title, (*fields, "--sync", *options), over_durable_limit, "total / (limit + a copy of each)", 1.1,
                  words=words)
          for title, words, *options in SYNCED),
        Pattern("fields, shuffle and deflate", (*fields, "--filter"), speed, "times as fast as plain", 1.5, True),
        Pattern("hyperslabs of 4 KiB, columns", ("--pattern", "slabs", "--count", many, "--columns"), speed,
                "times as fast as plain", 3, True),
        Pattern("hyperslabs of 4 KiB, rows", ("--pattern", "slabs", "--count", many), speed,
                "times as fast as plain", 3, True),
        Pattern("small datasets and attributes", ("--pattern", "metadata", "--count", many),
                lambda plain, carried: carried["total"] / plain["total"], "time / plain", 1.03),
        *(Pattern(title, ("--pattern", *options, "--count", "100" if quick else count),
                  lambda plain, carried: carried["total"] / plain["total"], "time / plain", LITTLE_BAR)
          for title, count, *options in LITTLE),
        *(Pattern(title, ("--pattern", pattern, "--bytes", str(1 << 20 if quick else 16 << 20), "--compute", "0.02",
                          "--iterations", "4" if quick else "20"),
                  lambda plain, carried: carried["total"] / plain["total"], "time / plain", LOOP_BAR)
          for title, pattern in LOOPS),
        Pattern("H5Dwrite of contiguous memory", ("--pattern", "copy", "--bytes", size),
                lambda plain, carried: statistics.median(carried["writes"]) / statistics.median(carried["copies"]),
                "time / memcpy", 1.3),
        Pattern("reads of 32 MiB, cold", slabs, reading, "time not computing / plain", None),
        Pattern("the same, prefetch", slabs, reading, "time not computing / plain", None, words="prefetch=33554432"),
        Pattern("the same, prefetch", slabs, lambda plain, carried: carried["total"] / plain["total"],
                "time / plain", None, words="prefetch=33554432"),
    ]


def start(folder: pathlib.Path, options: tuple[str, ...], connector: str | None, limit: float,
          added: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    for old in folder.iterdir():
        if old.stat().st_size > 0:  # empty ones: write_files
            old.unlink()
    os.sync()
    more = [] if connector is None else ["--plugins", str(PLUGINS), "--connector", connector]
    return subprocess.run([PROGRAM, "--file", folder / "bench.h5", *options, *more], capture_output=True, text=True,
                          timeout=limit, check=False, env={**os.environ, **(added or {})})


def run(folder: pathlib.Path, options: tuple[str, ...], connector: str | None) -> Report:
    done = start(folder, options, connector, 600)
    if done.returncode != 0:
        sys.exit(f"{PROGRAM}: {done.stderr}")
    return json.loads(done.stdout)


def seconds(reports: list[Report]) -> str:
    if "total" not in reports[0]:
        return ""
    times = [report["total"] for report in reports]
    return f"{statistics.median(times):7.3f} ({min(times):.3f} … {max(times):.3f})"


def judged(pattern: Pattern, kept: bool, quick: bool) -> str:
    if pattern.bar is None:
        return ""
    verdict = "not judged" if quick else "kept" if kept else "MISSED"
    return f"; bar {'≥' if pattern.at_least else '≤'} {pattern.bar}: {verdict}"


def summary(values: list[float]) -> Report:
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def row_of(pattern: Pattern, pairs: list[tuple[Report, Report]], ratios: list[float], kept: bool) -> Report:
    """Returns a line as the file of --json has it."""
    times = {kind: summary([pair[at]["total"] for pair in pairs]) for at, kind in enumerate(("plain", "carried"))
             if "total" in pairs[0][at]}
    return {"title": pattern.title, "what": pattern.what, **times, "ratio": summary(ratios), "bar": pattern.bar,
            "at_least": pattern.at_least, "met": None if pattern.bar is None else kept}


def document_of(rows: list[Report], arguments: argparse.Namespace) -> Report:
    now = datetime.datetime.now(datetime.timezone.utc)
    words = f'make bench-hdf5 ARGS="--rounds {arguments.rounds}"'
    return {"tailrace_hdf5": 1, "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "command": words,
            "tailrace": tailrace.__version__, "machine": machine.describe(), "rows": rows,
            **({"quick": True} if arguments.quick else {})}


def measure(folder: pathlib.Path, arguments: argparse.Namespace, rows: list[Report]) -> tuple[list[Pattern], int]:
    """Prints a line for each pattern, and adds it to `rows`; returns those that missed their bars, and the passes of
    a field."""
    missed = []
    runs: dict[tuple[tuple[str, ...], str], list[tuple[Report, Report]]] = {}
    size = str(1 << 20 if arguments.quick else 128 << 20)
    copy = run(folder, ("--pattern", "copy", "--bytes", size), None)
    each = statistics.median(copy["copies"])
    compute = "0.01" if arguments.quick else "0.47"
    passes = run(folder, ("--pattern", "calibrate", "--compute", compute), None)["passes"]
    print(f"{'':32}{'plain, s':>26}{'carried, s':>26}   ratio (least … most)")
    for pattern in patterns(arguments.quick, passes):
        if arguments.only not in pattern.title:
            continue
        connector = f"{arguments.connector} {pattern.words}".strip()
        if (pattern.options, connector) not in runs:
            found = []
            for number in range(arguments.rounds):
                kinds: list[str | None] = [None, connector]
                turn = {kind: run(folder, pattern.options, kind) for kind in (kinds if number % 2 else kinds[::-1])}
                turn[connector] |= {"iterations": 8, "copy": each}
                if "--sync" in pattern.options:
                    limit = run(folder, ("--pattern", "direct", "--bytes", size), None)
                    turn[connector] |= {"direct": limit["writing"]}
                found.append((turn[None], turn[connector]))
            runs[pattern.options, connector] = found
        pairs = runs[pattern.options, connector]
        ratios = [pattern.ratio(plain, carried) for plain, carried in pairs]
        ratio = statistics.median(ratios)
        kept = pattern.met(ratio)
        if not kept:
            missed.append(pattern)
        rows.append(row_of(pattern, pairs, ratios, kept))
        print(f"{pattern.title:32}{seconds([plain for plain, _ in pairs]):>26}"
              f"{seconds([carried for _, carried in pairs]):>26}   {ratio:.3f} ({min(ratios):.3f} … "
              f"{max(ratios):.3f}) {pattern.what}{judged(pattern, kept, arguments.quick)}", flush=True)
    return missed, passes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=pathlib.Path, default=None, help="where to write (default: a temporary folder)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    parser.add_argument("--only", default="", metavar="WORDS",
                        help="the lines whose titles contain this (default: all)")
    parser.add_argument("--connector", default="", help="its settings, such as 'place=core budget=67108864'")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the lines there")
    parser.add_argument("--quick", action="store_true", help="tiny, to see that it works; measures nothing")
    parser.add_argument("--vol-async", type=pathlib.Path, default=None, metavar="PREFIX",
                        help="also the peer vol-async, which is there with its HDF5 (default: it is not measured)")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS",
                        help="after which a run beside vol-async has not ended (default: 120)")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds = 1
    if not PROGRAM.exists():
        print(f"found no {PROGRAM}: it is built where there is a shared HDF5 (tools/build_hdf5_tests.sh)")
        return 1
    if arguments.vol_async is not None and (missing := vol_async.missing(arguments.vol_async)):
        print(missing)
        return 1
    print(f"tailrace {tailrace.__version__}; HDF5 with the connector beside plain HDF5, {arguments.rounds} rounds")
    with tempfile.TemporaryDirectory(dir=arguments.dir, prefix="tailrace-bench-hdf5-") as folder:
        rows: list[Report] = []
        missed, passes = measure(pathlib.Path(folder), arguments, rows)
        if arguments.json:
            arguments.json.write_text(json.dumps(document_of(rows, arguments), indent=1) + "\n")
        if arguments.vol_async is None:
            print("vol-async: not measured (--vol-async PREFIX)")
        else:
            vol_async.measure(pathlib.Path(folder), arguments, passes, start)
    if not arguments.quick and missed:
        print(f"{len(missed)} bars missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
