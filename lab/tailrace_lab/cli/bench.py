"""`tailrace bench pattern`: how much of a program's output each way to write hides, against limit and prediction.

Reads the options and passes them to tailrace_lab.bench, which makes the runs; bench_display.py shows the progress,
bench_table.py the results. Runs and computes nothing itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from tailrace import own_file
from tailrace.cli import output

from . import bench_busy, bench_core, bench_cube, bench_forward, bench_jitter, bench_mpiio, bench_options, bench_small

if TYPE_CHECKING:
    from ..bench.pattern import Settings
    from ..bench.result import Result

KERNELS = ("busy", "jacobi", "jacobi-blocked", "matmul", "matmul-transposed", "strassen", "mandelbrot", "walk",
           "spin", "triad")
SWEEP = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)

_EPILOG = """\
writers: none, sync (pwrite, bypassing the page cache), sync-buffered, sync-hdf5, bare (a thread and two buffers),
posix-aio (glibc), and tailrace-VERB with VERB alloc, write or borrow, and optionally -unpinned, -buffered, -malloc,
-unaligned, -throttled, or -forwarded (through a forwarder on this machine) appended, such as
tailrace-alloc-buffered. none and sync always run, since the limit and OO are computed from them.

Exit code 1 if it cannot run, 2 if the options are wrong."""


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "bench", help="measure on this machine what tailrace gains", description="Measures on this machine.")
    kinds = parser.add_subparsers(title="what to measure", metavar="WHAT", required=True)
    pattern = kinds.add_parser(
        "pattern", help="a program that computes and writes in turn, with each way to write", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs a program that computes and writes in turn, with each way to write, round after round.\n"
                    "Compares their times with the limit that no schedule beats, and with the models' predictions.\n"
                    "Takes some minutes, and needs a machine that does nothing else.")
    _add_options(pattern)
    pattern.set_defaults(run=run, parser=pattern)
    bench_core.register(kinds)
    bench_jitter.register(kinds)
    bench_small.register(kinds)
    bench_mpiio.register(kinds)
    bench_forward.register(kinds)
    bench_cube.register(kinds)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dir", type=pathlib.Path, action="append", metavar="DIR",
        help="where to write; repeat it for several devices (default: out/bench)")
    add("--bytes", type=_size, metavar="SIZE", help="an iteration's output, such as 64MiB (default)")
    add("--iterations", type=bench_options.count(1, 100_000), metavar="N",
        help="iterations of a run (default: 16)")
    work = parser.add_mutually_exclusive_group()
    work.add_argument("--ratio", type=_ratios, metavar="R,…",
                      help="compute time / write time, one or more (default: 0.5,1,2; with --ablation: 1)")
    work.add_argument("--compute-time", type=bench_options.time, metavar="TIME",
                      help="compute time of an iteration, such as 0.4s")
    work.add_argument("--sweep", action="store_true", help=f"--ratio {','.join(f'{ratio:g}' for ratio in SWEEP)}")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--writers", type=_writers, metavar="W,…",
                      help="the ways to write (default: none,sync,tailrace-alloc,tailrace-write)")
    what.add_argument("--ablation", action="store_true",
                      help="what each of tailrace's techniques gains, from naive to direct, at one C/W")
    what.add_argument("--busy", type=bench_busy.loops, metavar="N,…",
                      help="beside N busy loops, such as 0,1,2,4,8: each verb in both places, against synchronous "
                           "(--ratio: 1 by default)")
    add("--kernel", choices=KERNELS,
        help="the computation (default: busy, a small loop in the cache; with --sweep: spin, whose time does not "
             "depend on other use of the same core)")
    add("--threads", type=bench_options.count(1, 4096), metavar="N", help="threads that compute (default: 1)")
    add("--memory", choices=("heap", "static"), help="memory of the kernel's arrays (default: heap)")
    add("--variables", type=bench_options.count(1, 1000), metavar="N",
        help="variables, which share the bytes (default: 1)")
    add("--repeats", type=bench_options.count(1, 10_000), metavar="N",
        help="rounds, after one to warm up (default: 5)")
    add("--queue-depth", type=bench_options.count(1, 4096), metavar="N",
        help="transfers under way at once (default: 8)")
    add("--quick", action="store_true", help="tiny runs, to check that everything works; measures nothing")
    add("--keep", action="store_true", help="keep the last files of every writer")
    add("--trace", type=pathlib.Path, metavar="FILE",
        help="trace one more run, of the first tailrace writer, for Chrome and Perfetto")
    add("--json", metavar="FILE", help="write the result to FILE; - prints it instead of the tables")
    add("--pattern", type=pathlib.Path, metavar="PATH",
        help="the program (default: that of the repository or of the package)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from ..bench import pattern, program

    from . import bench_display, bench_table  # here: numpy and rich import slowly

    settings = _settings(arguments)
    if arguments.busy is not None:
        return bench_busy.run(arguments, settings)
    # With --json - the output is the document alone; tables and bar go to standard error.
    stream = sys.stderr if arguments.json == "-" else sys.stdout
    try:
        bench_options.require_folder(arguments.json)
        bench_options.require_folder(arguments.trace)
        found = program.find(arguments.pattern)
        printer = bench_table.Printer(stream, settings)
        with bench_display.Display(printer) as display:
            result = pattern.run(found, settings, display)
        if arguments.quick:
            result.document["quick"] = True
            _mark_quick(arguments.trace)
        printer.conclude(result.document)
        _write(result, arguments.json)
    except (program.Failed, OSError) as error:
        output.complain(str(error))
        return 1
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    from ..bench import pattern

    given = {"directories": tuple(arguments.dir) if arguments.dir else None, "bytes": arguments.bytes,
             "iterations": arguments.iterations, "ratios": SWEEP if arguments.sweep else arguments.ratio,
             "compute_seconds": arguments.compute_time, "writers": arguments.writers, "kernel": arguments.kernel,
             "threads": arguments.threads, "memory": arguments.memory, "variables": arguments.variables,
             "repeats": arguments.repeats, "queue_depth": arguments.queue_depth, "trace": arguments.trace}
    if arguments.busy is not None:
        bench_busy.check(arguments)
    if (arguments.ablation or arguments.busy is not None) and given["ratios"] is None:
        given["ratios"] = (1.0,)
    if arguments.sweep and given["kernel"] is None:
        given["kernel"] = "spin"
    settings = dataclasses.replace(pattern.QUICK if arguments.quick else pattern.Settings(),
                                   ablation=arguments.ablation, keep=arguments.keep,
                                   **{name: value for name, value in given.items() if value is not None})
    if settings.ablation and len(settings.ratios) > 1:
        arguments.parser.error("argument --ablation: runs at one C/W, found several")
    if settings.bytes % settings.variables:
        arguments.parser.error(f"argument --bytes: {settings.bytes} bytes cannot be shared evenly by "
                               f"{settings.variables} variables")
    return settings


def _mark_quick(trace: pathlib.Path | None) -> None:
    """Lets pictures of the trace of a quick run say that it is one."""
    if trace is not None:
        document = json.loads(trace.read_text(encoding="utf-8"))
        document["otherData"]["quick"] = True
        own_file.write_whole(trace, json.dumps(document) + "\n")


def _write(result: Result, where: str | None) -> None:
    if where == "-":
        output.print_json(result.document)
    elif where:
        result.save(pathlib.Path(where))
        print(f"result:   {where}")


def _size(text: str) -> int:
    from tailrace import quantity

    try:
        found = quantity.parse_size(text)
    except quantity.QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not 64 <= found <= 1 << 40:
        raise argparse.ArgumentTypeError(f"expected 64B to 1TiB, found {text!r}")
    return found


def _ratios(text: str) -> tuple[float, ...]:
    return tuple(dict.fromkeys(_ratio(part) for part in text.split(",")))


def _ratio(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found <= 1000:
        raise argparse.ArgumentTypeError("expected compute time / write time, above 0 and 1000 at most, "
                                         f"found {text!r}")
    return found


def _writers(text: str) -> tuple[str, ...]:
    from ..bench import writers

    try:
        return tuple(dict.fromkeys(writers.parse(name).name for name in text.split(",")))
    except writers.Unknown as error:
        raise argparse.ArgumentTypeError(str(error)) from None
