"""`tailrace bench cube`: the re-mapper of profiles with each way to write.

Reads the options and passes them to tailrace_lab.bench.cube; prints and draws the results. Measures nothing itself.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
from typing import Any

from tailrace import quantity
from tailrace.cli import output, plots, progress

from . import bench_options

_NAMES = {"none": "computing alone", "sync": "synchronous", "naive": "naive: POSIX AIO", "pinned": "pinned",
          "aligned": "aligned", "tailrace": "tailrace"}
_EPILOG = """\
ways: computing alone; synchronous (pwrite); naive (the C library's POSIX AIO, a new buffer for each block); pinned
(its write thread on a cpu of its own); aligned (buffers on cache lines of their own); tailrace (blocks of one pool,
lent to the writer's thread).

Exit code 1 if it cannot run, 2 if the options are wrong. A missed bar is reported, and is no failure."""


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "cube", help="remapping a performance profile, with each way to write", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Remaps a generated profile with each way to write in turn. Its expressions are chosen so that\n"
                    "computing takes as long as writing. Takes about a minute, and needs a machine that does\n"
                    "nothing else.")
    add = parser.add_argument
    add("--dir", type=pathlib.Path, metavar="DIR", help="where to write (default: out/bench)")
    add("--callpaths", type=bench_options.count(1, 10**6), metavar="N", help="call paths (default: 400)")
    add("--locations", type=bench_options.count(1, 10**6), metavar="N", help="locations (default: 20000)")
    add("--metrics", type=bench_options.count(1, 1000), metavar="N", help="metrics (default: 12)")
    add("--ratio", type=bench_options.ratio, metavar="R", help="computing / writing (default: 1)")
    add("--spec", type=pathlib.Path, metavar="FILE", help="remap by this specification instead")
    add("--threads", type=bench_options.count(1, 4096), metavar="N", help="threads that compute (default: 1)")
    add("--writer-cpu", type=bench_options.count(0, 4095), metavar="CPU", help="a cpu for the writer alone")
    add("--durable", action="store_true", help="wait until the device has the file (default: the page cache)")
    add("--repeats", type=bench_options.count(1, 1000), metavar="N", help="rounds, after one to warm up (default: 5)")
    add("--quick", action="store_true", help="a small profile, one round: checks that it runs, measures nothing")
    add("--json", type=pathlib.Path, metavar="FILE", help="write the results")
    add("--plot", type=pathlib.Path, metavar="FILE", help="draw the results")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from ..bench import cube

    if arguments.plot:
        plots.require()
    base = cube.Settings(call_paths=60, locations=300, metrics=3, rounds=1) if arguments.quick else cube.Settings()
    settings = bench_options.given(
        base, directory=arguments.dir, call_paths=arguments.callpaths, locations=arguments.locations,
        metrics=arguments.metrics, ratio=arguments.ratio, specification=arguments.spec, threads=arguments.threads,
        writer_cpu=arguments.writer_cpu, durable=arguments.durable or None, rounds=arguments.repeats)
    try:
        with progress.steps() as say:
            document = cube.study(settings, say)
    except (OSError, subprocess.CalledProcessError) as error:
        output.complain(str(error))
        return 1
    if arguments.quick:
        document["quick"] = True
    _print(document)
    if arguments.json:
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    if arguments.plot:
        _draw(document, arguments.plot)
    return 0


def _print(document: dict[str, Any]) -> None:
    print(f"{document['bytes'] / (1 << 20):.0f} MiB in {document['blocks']} blocks; computing "
          f"{document['compute_seconds']:.2f} s, writing {document['write_seconds']:.2f} s "
          f"({'to the device' if document['settings']['durable'] else 'to the page cache'}); limit "
          f"{document['limit_seconds']:.2f} s\n")
    counted = any(way["cache_misses"] is not None for way in document["ways"])
    titles = ("way", "total", "least … most", "× limit", "saved", "computing slowed",
              *(("cache misses",) if counted else ()))
    output.print_table(titles, [
        (_NAMES[way["name"]], f"{quantity.three(way['seconds'])} s",
         f"{quantity.three(way['least'])} … {quantity.three(way['most'])}",
         f"{way['to_limit']:.2f}", f"{100 * way['saved']:.0f} %", f"{100 * way['slowdown']:.0f} %",
         *((f"{(way['cache_misses'] or 0) / 1e6:.1f} M",) if counted else ())) for way in document["ways"]])
    if not counted:
        print("This machine does not count cache misses.")
    models = ", ".join(f"{name} {quantity.three(seconds)} s" for name, seconds in document["models"].items())
    print(f"\npredicted: {models}")
    for name, key in (("writing a block under load, Wp", "write"), ("handing a block over, req", "request")):
        line = document["saturation"][key]
        print(f"{name}: {1e6 * line['seconds']:.1f} µs (R² {line['r2']:.3f} over {len(line['samples'])} sizes)")
    way = document["ways"][-1]
    for name, value, bar, met in (("total", way["to_limit"], "≤ 1.05 × limit", way["to_limit"] <= 1.05),
                                  ("saved", 100 * way["saved"], "≥ 40 %", way["saved"] >= 0.4),
                                  ("computing slowed", 100 * way["slowdown"], "≤ 3 %", way["slowdown"] <= 0.03)):
        print(f"{'kept' if met else 'missed'}: tailrace, {name}: {value:.3g}; bar {bar}")


def _draw(document: dict[str, Any], path: pathlib.Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes: Any = figure.subplots(1, 2)
    names = [_NAMES[way["name"]] for way in document["ways"]]
    colours = ["0.7"] * (len(names) - 1) + ["tab:blue"]
    axes[0].barh(names, [way["seconds"] for way in document["ways"]], color=colours)
    axes[0].axvline(document["limit_seconds"], linestyle="--", color="0.3")
    axes[0].set_xlabel("total, s (dashed: the limit)")
    axes[1].barh(names, [100 * way["slowdown"] for way in document["ways"]], color=colours)
    axes[1].set_xlabel("slow-down of the computation, %")
    axes[1].set_yticks([])
    for one in axes:
        one.invert_yaxis()
    figure.suptitle("Remapping a profile: each way to write")
    figure.savefig(path, dpi=150)
