#!/usr/bin/env python3
"""`make demo-openfoam`: runs OpenFOAM's pitzDaily LES case with its own file handlers and with tailrace's, in turn.

It prints what each way loses to output, checks that tailrace's files are those of `uncollated`, and draws three
pictures: the times, the timeline of one run, and the flow. Then it runs the case decomposed, in place core. The
results go to stdout, progress to stderr. Exit codes: 0 success, 1 it could not continue, or files differ; 2 wrong
usage.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

import flow_picture
import pitz_case as case_of
from pitz_case import CORE, NONE, THREAD, UNCOLLATED, WAYS, Run, Way

from tailrace import cli
from tailrace.cli import output
from tailrace_lab.bench import machine
from tailrace_lab.bench.program import Failed
from tailrace_lab.bench.runtime_directory import RuntimeDirectory
from tailrace_lab.bench.scratch import Scratch

_START = time.monotonic()
_COLUMNS = ("way", "total s", "least … most", "on the device s", "lost s", "overlap")


def say(text: str) -> None:
    """Prints a line of progress."""
    print(f"pitzDaily: {time.monotonic() - _START:6.1f} s  {text}", file=sys.stderr, flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """Runs it; returns the exit code."""
    arguments = _parser().parse_args(words)
    try:
        with Scratch([arguments.dir]) as scratch, RuntimeDirectory() as runtime:
            os.environ.update(runtime.environment)
            return _study(arguments, scratch.directories[0])
    except (Failed, OSError) as error:
        print(f"pitzDaily: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("pitzDaily: interrupted", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="compare.py", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--refine", type=int, default=2, help="cells in each direction, of the tutorial's "
                                                              "(%(default)s times as many)")
    parser.add_argument("--outputs", type=int, default=5, help="of a run (%(default)s)")
    parser.add_argument("--shares", default="0.05,0.30", help="of uncollated's time that output takes (%(default)s)")
    parser.add_argument("--format", default="ascii", choices=("ascii", "binary"), help="of the files (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of all ways in turn (%(default)s)")
    parser.add_argument("--ranks", default="2,4", help="of decomposed runs; empty: none (%(default)s)")
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path("out/openfoam"),
                        help="for results, and for cases meanwhile (%(default)s)")
    return parser


def _study(arguments: argparse.Namespace, scratch: pathlib.Path) -> int:
    case = scratch / "case"
    say(f"makes the mesh, refined {arguments.refine} times")
    case_of.prepare(case, arguments.refine, 1)
    step, write = _costs(arguments, case, scratch)
    say(f"a time step takes {step:.3f} s, an output {write:.3f} s with uncollated")
    document: dict[str, Any] = {"pitz_daily": 1, "machine": machine.describe(), "format": arguments.format,
                                "filesystem": machine.filesystem(arguments.dir), "studies": []}
    same = True
    for text in arguments.shares.split(","):
        share = float(text)
        interval = max(1, round(write * (1 - share) / (share * step)))
        study, equal = _alternate(arguments, case, scratch, share, interval)
        document["studies"].append(study)
        same = same and equal
        _print(study)
    for ranks in [int(text) for text in arguments.ranks.split(",") if text]:
        same = _decomposed(arguments, scratch, ranks) and same
    _keep(arguments, scratch, document)
    return 0 if same else 1


def _costs(arguments: argparse.Namespace, case: pathlib.Path, scratch: pathlib.Path) -> tuple[float, float]:
    """Returns the seconds of a step, and of an output."""
    runs = {}
    for name, steps, interval in (("short", 4, 1000), ("long", 12, 1000), ("writes", 12, 4)):
        case_of.configure(case, arguments.refine, steps, interval, arguments.format)
        runs[name] = case_of.solve(case, scratch / f"costs_{name}", UNCOLLATED).total
    step = max(1e-4, (runs["long"] - runs["short"]) / 8)
    return step, max(1e-3, (runs["writes"] - runs["long"]) / 3)


def _alternate(arguments: argparse.Namespace, case: pathlib.Path, scratch: pathlib.Path, share: float,
               interval: int) -> tuple[dict[str, Any], bool]:
    """Runs all ways in turn. Returns their medians, and whether tailrace's files are those of uncollated."""
    steps = interval * arguments.outputs
    runs: dict[Way, list[Run]] = {way: [] for way in WAYS}
    same = True
    for number in range(arguments.rounds):
        for way in WAYS:
            say(f"{share:.0%} output, round {number + 1} of {arguments.rounds}: {way.name}")
            case_of.configure(case, arguments.refine, steps, interval if way.writes else steps + 1, arguments.format)
            folder = scratch / way.name.replace(" ", "_")
            shutil.rmtree(folder, ignore_errors=True)
            trace = scratch / "trace.json" if way is THREAD else None
            runs[way].append(case_of.solve(case, folder, way, trace=trace))
        for way in (THREAD, CORE):
            same = _same(scratch / UNCOLLATED.name, scratch / way.name.replace(" ", "_")) and same
    alone = statistics.median(run.total for run in runs[NONE])
    synchronous = statistics.median(run.total for run in runs[UNCOLLATED]) - alone
    ways = {}
    for way, each in runs.items():
        total = statistics.median(run.total for run in each)
        ways[way.name] = {"total": total, "least": min(run.total for run in each),
                          "most": max(run.total for run in each),
                          "synced": statistics.median(run.synced for run in each), "lost": total - alone,
                          "overlap": (synchronous - (total - alone)) / synchronous if synchronous > 0 else None,
                          "mebibytes": each[0].mebibytes}
    return {"share": share, "interval": interval, "steps": steps, "ways": ways}, same


def _same(plain: pathlib.Path, carried: pathlib.Path) -> bool:
    def contents(folder: pathlib.Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    expected, found = contents(plain), contents(carried)
    different = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    for name in different[:5]:
        print(f"pitzDaily: {name} differs from uncollated's", file=sys.stderr)
    return not different


def _print(study: dict[str, Any]) -> None:
    ways = study["ways"]
    print(f"\nOutput after each {study['interval']} of {study['steps']} steps, "
          f"{ways[UNCOLLATED.name]['mebibytes']:.0f} MiB:\n")
    output.print_table(_COLUMNS, [
        [name, f"{way['total']:.2f}", f"{way['least']:.2f} … {way['most']:.2f}", f"{way['synced']:.2f}",
         f"{way['lost']:.2f}", "-" if way["overlap"] is None or name == NONE.name else f"{way['overlap']:.1%}"]
        for name, way in ways.items()])
    sys.stdout.flush()


def _decomposed(arguments: argparse.Namespace, scratch: pathlib.Path, ranks: int) -> bool:
    """Runs the case by several processes. Returns whether tailrace's files are those of uncollated."""
    case = scratch / f"case{ranks}"
    case_of.prepare(case, arguments.refine, ranks)
    case_of.configure(case, arguments.refine, 4 * arguments.outputs, 4, arguments.format)
    seconds = {}
    for way in (UNCOLLATED, CORE):
        say(f"{ranks} processes: {way.name}")
        seconds[way] = case_of.solve(case, scratch / f"{way.name.replace(' ', '_')}{ranks}", way, ranks).total
    same = _same(scratch / f"{UNCOLLATED.name}{ranks}", scratch / f"{CORE.name.replace(' ', '_')}{ranks}")
    print(f"\n{ranks} processes: uncollated {seconds[UNCOLLATED]:.2f} s, tailrace core {seconds[CORE]:.2f} s; "
          f"the files {'are equal' if same else 'DIFFER'}")
    return same


def _keep(arguments: argparse.Namespace, scratch: pathlib.Path, document: dict[str, Any]) -> None:
    """Keeps the results and pictures in the user's directory, and prints where."""
    out = arguments.dir
    (out / "pitz_daily.json").write_text(json.dumps(document, indent=1) + "\n")
    shutil.copy(scratch / "trace.json", out / "trace.json")
    flow_picture.draw_times(document, out / "times.png")
    cli.main(["plot", str(out / "trace.json"), "--out", str(out), "--format", "png"])
    made = ["pitz_daily.json", "trace.json", "times.png"]
    folder = scratch / THREAD.name.replace(" ", "_")
    if arguments.format == "ascii":
        latest = max((path.name for path in folder.iterdir() if path.name[0].isdigit()), key=float)
        flow_picture.draw_flow(folder, latest, out / "flow.png")
        made.append("flow.png")
    print("\n" + "\n".join(str(out / name) for name in made))


if __name__ == "__main__":
    sys.exit(main())
