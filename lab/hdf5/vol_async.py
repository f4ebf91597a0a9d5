"""The peer vol-async beside tailrace and plain HDF5, for `--vol-async PREFIX` of run.py.

PREFIX/lib must have what vol-async needs: libh5async.so with Argobots, and a thread-safe parallel HDF5 whose shared
library has the name and interface of the one that hdf5_bench is linked to. All three kinds of run use that HDF5, in
turns; vol-async is set by the environment, as shipped. A run that fails or does not end is a result.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
from collections.abc import Callable
from typing import Any

CONNECTOR = "async under_vol=0;under_info={}"
KINDS = ("plain", "tailrace", "vol-async")
Report = dict[str, Any]
Start = Callable[..., subprocess.CompletedProcess[str]]  # from run.py


def missing(prefix: pathlib.Path) -> str:
    """Returns which file is missing; "" if all exist."""
    lacks = [name for name in ("libh5async.so", "libhdf5.so") if not (prefix / "lib" / name).exists()]
    return f"found no {lacks[0]} in {prefix / 'lib'}, expected vol-async and its HDF5 there" if lacks else ""


def patterns(quick: bool, passes: int) -> list[tuple[str, tuple[str, ...]]]:
    """Returns titles and options. It has fewer small items than run.py: vol-async needs milliseconds for each."""
    pieces, small = ("20", "20") if quick else ("10000", "1000")
    fields = ("--pattern", "fields", "--bytes", str(1 << 20 if quick else 128 << 20), "--passes", str(passes))
    return [
        ("fields", fields),
        ("fields, shuffle and deflate", (*fields, "--filter")),
        (f"{pieces} hyperslabs, columns", ("--pattern", "slabs", "--count", pieces, "--columns")),
        (f"{pieces} hyperslabs, rows", ("--pattern", "slabs", "--count", pieces)),
        (f"{small} datasets and attributes", ("--pattern", "metadata", "--count", small)),
    ]


def run(folder: pathlib.Path, options: tuple[str, ...], kind: str, arguments: argparse.Namespace,
        start: Start) -> float | str:
    """Returns the seconds, or why there are none."""
    library = (arguments.vol_async / "lib").resolve()
    added = {"LD_LIBRARY_PATH": str(library)}
    if kind == "vol-async":
        added |= {"HDF5_PLUGIN_PATH": str(library), "HDF5_VOL_CONNECTOR": CONNECTOR}
    try:
        done = start(folder, options, arguments.connector if kind == "tailrace" else None, arguments.limit, added)
    except subprocess.TimeoutExpired:
        return f"did not end in {arguments.limit:g} s"
    if done.returncode != 0:
        return f"failed ({done.returncode})"
    report = json.loads(done.stdout)
    if not report["thread_safe"]:
        return "not its HDF5"  # and so no comparison
    if report["vol_async"] != (kind == "vol-async"):
        return "not vol-async"
    return report["total"]


def shown(results: list[float | str]) -> str:
    times = [result for result in results if not isinstance(result, str)]
    others = [result for result in results if isinstance(result, str)]
    text = f"{statistics.median(times):.3f} ({min(times):.3f} … {max(times):.3f})" if times else ""
    return " ".join([text] * bool(text) + [f"{others.count(why)} × {why}" for why in sorted(set(others))])


def measure(folder: pathlib.Path, arguments: argparse.Namespace, passes: int, start: Start) -> None:
    """Prints a line for each pattern."""
    print("\nthe HDF5 of vol-async for all    " + "".join(f"{kind + ', s':>26}" for kind in KINDS) +
          "   tailrace / vol-async")
    for title, options in patterns(arguments.quick, passes):
        results: dict[str, list[float | str]] = {kind: [] for kind in KINDS}
        for number in range(arguments.rounds):
            first = number % len(KINDS)
            for kind in KINDS[first:] + KINDS[:first]:
                results[kind].append(run(folder, options, kind, arguments, start))
        ratios = [ours / theirs for ours, theirs in zip(results["tailrace"], results["vol-async"])
                  if not isinstance(ours, str) and not isinstance(theirs, str)]
        ratio = f"{statistics.median(ratios):.3g} ({min(ratios):.3g} … {max(ratios):.3g})" if ratios else "none"
        print(f"{title:32}" + "".join(f"{shown(results[kind]):>26}" for kind in KINDS) + f"   {ratio}", flush=True)
