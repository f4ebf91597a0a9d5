"""`tailrace bench jitter`: how evenly a simulation's processes write, by four ways.

Reads the options and passes them to tailrace_lab.bench.jitter; bench_cells.py prints the results. Measures nothing
itself.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import TYPE_CHECKING, Any

from . import bench_options

if TYPE_CHECKING:
    from ..bench.jitter import Settings

_EPILOG = """\
ways: hdf5 (a file for each process), collective (MPI-IO, one shared file), thread and core (tailrace's places).

FILE of --json is for `tailrace plot`, which draws the tiles, and `tailrace report`.
Exit code 1 if it cannot run, 2 if the options are wrong. What is not available here (fio, an MPI) is reported."""


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "jitter", help="how evenly processes write: file per process, collective, thread, core", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Processes compute, write and wait for each other. Prints how long each process's output took,\n"
                    "as the simulation sees it: mean, worst, spread, and throughput. Takes up to five minutes.")
    add = parser.add_argument
    switch = bench_options.words(("off", "on"))
    bench_options.add_result(add)
    add("--processes", type=bench_options.count(1, 1024), metavar="N",
        help="processes that compute and write (default: 4)")
    add("--iterations", type=bench_options.count(1, 100_000), metavar="N",
        help="iterations of each cell, after one to warm up (default: 12)")
    add("--bytes", type=bench_options.block_sizes, metavar="SIZE,…",
        help="output of a process in an iteration (default: 4MiB,16MiB)")
    add("--ways", type=bench_options.words(("hdf5", "collective", "thread", "core")), metavar="W,…",
        help="the ways to write (default: hdf5,collective,thread,core)")
    add("--compress", type=switch, metavar="off,on", help="without and with shuffle and zstd (default: both)")
    add("--load", type=switch, metavar="off,on", help="without and with fio loading the same disk (default: both)")
    add("--compute-time", type=bench_options.time, metavar="TIME",
        help="compute time of a process in an iteration, alone (default: 0.1s)")
    add("--mpi", choices=("openmpi", "system"), help="the registry's Open MPI, installed temporarily (default), or "
                                                     "this machine's, which TAILRACE_MPI may name (default with "
                                                     "--quick)")
    add("--keep-env", type=pathlib.Path, metavar="DIR", help="install Open MPI there, and keep it for later runs")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from ..bench import jitter

    from . import bench_cells

    settings = _settings(arguments)
    return bench_options.conduct(
        arguments, lambda stream: bench_cells.Printer(stream, arguments.quick, arguments.markdown),
        lambda _, display: jitter.study(arguments.program, settings, display))


def _settings(arguments: argparse.Namespace) -> Settings:
    from ..bench import jitter

    settings = jitter.QUICK if arguments.quick else jitter.Settings()
    return bench_options.given(
        settings, directory=arguments.dir, processes=arguments.processes, iterations=arguments.iterations,
        bytes=arguments.bytes, ways=arguments.ways, compress=arguments.compress, load=arguments.load,
        compute_seconds=arguments.compute_time, mpi=arguments.mpi, keep_environment=arguments.keep_env)
