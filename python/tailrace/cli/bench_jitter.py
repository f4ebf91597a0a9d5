"""`tailrace bench jitter`: how evenly a simulation's processes write, by four ways.

Reads the options and hands them to tailrace.bench.jitter; prints a table of what came out. Measures nothing itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from . import bench_options, output

if TYPE_CHECKING:
    from tailrace.bench.jitter import Settings

_EPILOG = """\
ways: hdf5 (a file a process), collective (MPI-IO, one shared file), thread and core (tailrace's places).

FILE of --json is for `tailrace plot`, which draws the tiles, and `tailrace report`.
Exit code 1 if it cannot run, 2 if the options are wrong. What cannot be had here (fio, an MPI) is said."""


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "jitter", help="how evenly processes write: file per process, collective, thread, core", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Processes compute, write and wait for each other; prints how long each one's output took as\n"
                    "the simulation sees it: mean, worst, spread, and throughput. Takes up to five minutes.")
    add = parser.add_argument
    switch = bench_options.words(("off", "on"))
    add("--dir", type=pathlib.Path, metavar="DIR", help="where to write (default: out/bench)")
    add("--processes", type=bench_options.count(1, 1024), metavar="N",
        help="that compute and write (default: 4)")
    add("--iterations", type=bench_options.count(1, 100_000), metavar="N",
        help="of each cell, after one to warm up (default: 12)")
    add("--bytes", type=bench_options.block_sizes, metavar="SIZE,…",
        help="of a process and iteration (default: 4MiB,16MiB)")
    add("--ways", type=bench_options.words(("hdf5", "collective", "thread", "core")), metavar="W,…",
        help="default: hdf5,collective,thread,core")
    add("--compress", type=switch, metavar="off,on", help="without and with shuffle and zstd (default: both)")
    add("--load", type=switch, metavar="off,on", help="without and with fio loading the same disk (default: both)")
    add("--compute-time", type=bench_options.time, metavar="TIME",
        help="of an iteration and process alone (default: 0.1s)")
    add("--mpi", choices=("openmpi", "system"), help="the registry's Open MPI, installed for a while (default), or "
                                                     "the mpicc on PATH (default with --quick)")
    add("--keep-env", type=pathlib.Path, metavar="DIR", help="install Open MPI there, and leave it for the next time")
    add("--quick", action="store_true", help="tiny, to see that it works; measures nothing")
    add("--markdown", action="store_true", help="print tables as Markdown")
    add("--json", metavar="FILE", help="write the result to FILE; - prints it instead of the table")
    add("--program", type=pathlib.Path, metavar="PATH",
        help="the program core_bench (default: where `make build` puts it)")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from rich.console import Console
    from tailrace.bench import jitter, program

    from . import bench_bars, bench_display

    stream = sys.stderr if arguments.json == "-" else sys.stdout
    console = Console(file=stream, width=bench_bars.width(stream, arguments.markdown), highlight=False)
    try:
        bench_options.require_folder(arguments.json)
        with bench_display.Display(_OnConsole(console)) as display:
            document = jitter.study(arguments.program, _settings(arguments), display)
        _print(document, console, arguments.quick, arguments.markdown)
        bench_options.save(document, arguments.json)
    except (program.Failed, OSError) as error:
        output.complain(str(error))
        return 1
    return 0


class _OnConsole:
    """What the bar on the terminal needs of a printer."""

    def __init__(self, console: Any) -> None:
        self.console = console


def _settings(arguments: argparse.Namespace) -> Settings:
    from tailrace.bench import jitter

    given = {"directory": arguments.dir, "processes": arguments.processes, "iterations": arguments.iterations,
             "bytes": arguments.bytes, "ways": arguments.ways, "compress": arguments.compress, "load": arguments.load,
             "compute_seconds": arguments.compute_time, "mpi": arguments.mpi, "keep_environment": arguments.keep_env}
    return dataclasses.replace(jitter.QUICK if arguments.quick else jitter.Settings(),
                               **{name: value for name, value in given.items() if value is not None})


def _print(document: dict[str, Any], console: Any, quick: bool, markdown: bool) -> None:
    from rich import box
    from rich.table import Table
    from tailrace import quantity

    settings, machine = document["settings"], document["machine"]
    table = Table(box=box.MARKDOWN if markdown else box.SIMPLE_HEAD)
    table.add_column("")
    for column in ("mean", "worst", "spread", "worst /\nmean", "whole\nphase", "seen by the\nsimulation",
                   "of the\nwhole run", "filters\nrelaxed, %"):
        table.add_column(column.replace("\n", " ") if markdown else column, justify="right")
    for cell in document["cells"]:
        less = f"{100 * cell['chunks_less'] / cell['chunks']:.0f}" if cell["chunks"] else ""
        table.add_row(cell["experiment"], *(quantity.format_time(cell[key]) for key in ("mean", "worst", "spread")),
                      f"{cell['worst'] / cell['mean']:.1f}", quantity.format_time(cell["phase_mean"]),
                      *(quantity.format_rate(cell[key]) for key in ("throughput_seen", "throughput_run")), less)
    say = lambda text: console.print(text, markup=False, soft_wrap=True)  # noqa: E731
    say(f"write times of {settings['processes']} processes, {settings['iterations']} iterations each; "
        f"{machine['cpu']}, {machine['cpus']} cpus, Linux {machine['kernel']}; "
        f"{document['storage'][0]['filesystem']}")
    console.print(table)
    if settings["load_bytes_per_second"]:
        say(f"fio wrote {quantity.format_rate(settings['load_bytes_per_second'])} beside them")
    for way, description in {cell["way"]: cell["description"] for cell in reversed(document["cells"])}.items():
        say(f"{way}: {description}")
    for one in document["missing"]:
        say(f"not measured: {one['what']}: {one['why']}")
    if quick:
        say("These were tiny runs, to see that it works: the figures say nothing.")
    say(f"again: {document['command']}")
