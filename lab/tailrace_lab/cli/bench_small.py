"""`tailrace bench small`: many small requests of many clients to one file, with the compactor and without.

Reads the options and passes them to tailrace_lab.bench.small; bench_requests.py prints the results. Measures nothing
itself.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import TYPE_CHECKING, Any

from . import bench_options

if TYPE_CHECKING:
    from ..bench.small import Settings

_PATTERNS = ("rows", "overlap", "behind", "checkpoint", "plot", "corners", "tiles")
_EPILOG = """\
patterns: rows (of a matrix, dealt to the clients), overlap (one client's pieces overlap), behind (reads follow
writes), checkpoint, plot and corners (Flash-I/O's three files), tiles (MPI-Tile-I/O).

Exit code 1 if it cannot run, 2 if the options are wrong. A missed bar is reported, and is no failure; neither is
an MPI that is not available here."""


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "small", help="many small requests to one file: merged, unmerged, by pwrite, by MPI-IO", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Clients write small pieces of one file: with the compactor on, off, and with each of its parts\n"
                    "off; by plain pwrite; collectively by MPI-IO; and by one process that has the whole file (the\n"
                    "limit). Prints times, the number of writes that reached storage, and bars. Takes some minutes,\n"
                    "and needs a machine that does nothing else.")
    add = parser.add_argument
    bench_options.add_result(add, program="small_bench")
    add("--only", type=bench_options.words(_PATTERNS), metavar="PATTERN,…", help="only these patterns (default: all)")
    add("--clients", type=bench_options.count(1, 1024), metavar="N",
        help="clients in rows; a quarter of them in the others (default: 64)")
    add("--bytes", type=bench_options.block_sizes, metavar="SIZE", help="size of the file (default: 64MiB)")
    add("--piece", type=bench_options.block_sizes, metavar="SIZE", help="a row of a matrix or tile (default: 4KiB)")
    add("--list", type=bench_options.count(0, 1 << 20), metavar="N",
        help="rows in one call, as a list; 0: all rows of a client (default: 1)")
    add("--by-block", action="store_true", help="Flash-I/O: a piece is a block, not all blocks of a process")
    add("--repeats", type=bench_options.count(1, 1000), metavar="N", help="rounds, after one to warm up (default: 3)")
    add("--mpi", type=bench_options.words(("openmpi", "mpich", "system", "none")), metavar="MPI,…",
        help="openmpi, mpich: the registry's, installed temporarily (default: both); system: this machine's, which "
             "TAILRACE_MPI may name (default with --quick); none")
    add("--ranks", type=_ranks, metavar="N,…", help="MPI ranks; all: as many as clients (default: 2,4,all)")
    add("--keep-env", type=pathlib.Path, metavar="DIR",
        help="install the MPIs there, and keep them for later runs")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from ..bench import small

    from . import bench_requests

    settings = _settings(arguments)
    return bench_options.conduct(
        arguments, lambda stream: bench_requests.Printer(stream, arguments.quick, arguments.markdown),
        lambda printer, display: small.study(arguments.program, settings, _Told(printer, display)))


def _settings(arguments: argparse.Namespace) -> Settings:
    from ..bench import small

    sizes = {}
    for option in ("bytes", "piece"):
        found = getattr(arguments, option)
        if found is not None and len(found) != 1:
            arguments.parser.error(f"argument --{option}: expected one size, found {len(found)}")
        sizes[option] = found[0] if found else None
    mpis = arguments.mpi
    if mpis is not None and "none" in mpis:
        if len(mpis) > 1:
            arguments.parser.error("argument --mpi: expected none alone, or some")
        mpis = ()
    settings = bench_options.given(
        small.QUICK if arguments.quick else small.Settings(), directory=arguments.dir, patterns=arguments.only,
        clients=arguments.clients, calls=arguments.list, by_block=arguments.by_block, repeats=arguments.repeats,
        mpis=mpis, ranks=arguments.ranks, keep_environment=arguments.keep_env, **sizes)
    if settings.bytes % (settings.clients * settings.piece * 4):
        arguments.parser.error(f"argument --bytes: found {settings.bytes}, expected a multiple of 4 × clients × "
                               f"piece, {4 * settings.clients * settings.piece}")
    return settings


def _ranks(text: str) -> tuple[int, ...]:
    from ..bench.small import ALL

    parse = bench_options.count(1, 1024)
    return tuple(dict.fromkeys(ALL if word == "all" else parse(word) for word in text.split(",")))


class _Told:
    """The observer: sends progress to the bar on the terminal, and results to the printer."""

    def __init__(self, printer: Any, display: Any) -> None:
        self.doing = display.doing
        self.begin = display.begin
        self.run = display.run
        self.pattern = printer.pattern
