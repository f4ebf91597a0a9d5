"""`tailrace bench mpiio`: MPI-IO by MPICH and Open MPI, and carried by tailrace.

Reads the options and passes them to tailrace_lab.bench.mpiio; bench_mpiio_table.py prints the results, and
bench_mpiio_picture.py draws them. Measures nothing itself.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import TYPE_CHECKING, Any

from tailrace.cli import output, plots

from . import bench_options

if TYPE_CHECKING:
    from ..bench.mpiio_settings import Settings

_PATTERNS = ("contiguous", "computing", "strided", "tile", "bt", "strided_computing", "tile_computing",
             "bt_computing", "flash", "bricks", "extents")
_EPILOG = """\
patterns: contiguous (a block of each rank), strided (pieces in turn), tile (MPI-Tile-I/O), bt (BT-I/O; a square
number of ranks), flash (Flash-I/O), bricks (a cube, cut at random), extents (one rank, small extents). In computing
(contiguous) and …_computing, each rank computes after each write, and during each read of what was written.

Exit code 1 if it cannot run, 2 if the options are wrong. A missed bar is reported, and is no failure; neither is
an MPI that is not available here, nor a way that fails."""


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "mpiio", help="MPI-IO of a program: by two MPIs alone, and carried by tailrace", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="MPI ranks write patterns of pieces into one file: by MPICH and Open MPI alone, and carried by\n"
                    "tailrace over each of them, in each place, with each of its collective algorithms. Prints the\n"
                    "bandwidth to the device, how long a rank waits in its calls, and bars. Takes one to two hours,\n"
                    "and needs a machine that does nothing else.")
    add = parser.add_argument
    bench_options.add_result(add, program="mpiio_bench_mpich; that of Open MPI is beside it")
    add("--tiny", dest="quick", action="store_true", help="the same as --quick")
    add("--plot", type=pathlib.Path, metavar="FILE", help="draw the results, as PNG or SVG")
    add("--only", type=bench_options.words(_PATTERNS), metavar="PATTERN,…", help="only these patterns (default: all)")
    _add_sizes(add)
    _add_ways(add)
    parser.set_defaults(run=run, parser=parser)


def _add_sizes(add: Any) -> None:
    count = bench_options.count
    add("--size", type=bench_options.size(1 << 16, 1 << 34), metavar="SIZE",
        help="bytes of an iteration of all ranks (default: 64MiB)")
    add("--piece", type=count(4, 1 << 30), metavar="BYTES", help="with strided: bytes of a piece (default: 512)")
    add("--extents", type=count(1, 1 << 24), metavar="N", help="with extents: how many (default: 1000000)")
    add("--iterations", type=count(1, 1000), metavar="N",
        help="iterations of a run; computing has twice as many, extents two at most (default: 4)")
    add("--rounds", type=count(1, 1000), metavar="N", help="rounds, after one to warm up (default: 3)")
    add("--ranks", type=count(1, 1024), metavar="N",
        help="MPI ranks; bt takes the next square (default: as many as processors)")
    add("--computing-ranks", type=count(1, 1024), metavar="N",
        help="with computing: MPI ranks (default: one less than processors, but at least one)")
    add("--tests", type=count(0, 1 << 20), metavar="N",
        help="with computing: calls of MPI_Test while a rank computes (default: 0)")
    add("--verify", action="store_true", help="check the files of all rounds, not only of the first")


def _add_ways(add: Any) -> None:
    words = bench_options.words
    add("--mpi", type=words(("mpich", "openmpi")), metavar="MPI,…", help="the MPIs (default: mpich,openmpi)")
    add("--place", type=words(("thread", "core")), metavar="PLACE,…", help="tailrace's places (default: thread,core)")
    add("--collective", type=words(("auto", "two_phase", "dynamic", "static", "individual", "tune")),
        metavar="NAME,…",
        help="tailrace's collective algorithms, as hints (default: auto,two_phase,dynamic,static,individual)")
    add("--tune", action="store_true", help="also the algorithm that tailrace finds by trials, before the rounds")
    add("--aggregators", type=words(("ranks", "node")), metavar="KIND,…",
        help="tailrace's aggregators, as hints (default: ranks,node)")
    add("--words", metavar="WORDS", help="further settings for TAILRACE_MPIIO, such as 'budget=1073741824'")
    add("--preload", type=pathlib.Path, metavar="DIR",
        help="where libtailrace_mpiio_….so are (default: in the package)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from ..bench import mpiio

    from . import bench_mpiio_table

    if arguments.plot:
        plots.require()
    settings = _settings(arguments)
    found: list[dict[str, Any]] = []

    def measure(printer: Any, display: Any) -> dict[str, Any]:
        bench_options.require_folder(arguments.plot)
        found.append(mpiio.study(arguments.program, settings, _Told(printer, display)))
        return found[0]

    code = bench_options.conduct(
        arguments, lambda stream: bench_mpiio_table.Printer(stream, arguments.quick, arguments.markdown), measure)
    return _plot(found[0], arguments) if code == 0 and arguments.plot else code


def _plot(document: dict[str, Any], arguments: argparse.Namespace) -> int:
    from tailrace.pictures.fault import PictureError

    from . import bench_mpiio_picture  # here: matplotlib imports slowly

    try:
        bench_mpiio_picture.save(document, arguments.plot)
    except PictureError as error:
        output.complain(str(error))
        return 1
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    from ..bench import mpiio_settings

    if arguments.piece is not None and arguments.piece % 4:
        arguments.parser.error(f"argument --piece: found {arguments.piece}, expected a multiple of 4")
    if arguments.plot is not None and arguments.plot.suffix.lower() not in (".png", ".svg"):
        arguments.parser.error(f"argument --plot: found {arguments.plot}, expected a file .png or .svg")
    usual = mpiio_settings.TINY if arguments.quick else mpiio_settings.Settings()
    collectives = arguments.collective
    if arguments.tune:
        collectives = (*(collectives or usual.collectives), "tune")
    return bench_options.given(
        usual, directory=arguments.dir,
        patterns=arguments.only, ranks=arguments.ranks, computing_ranks=arguments.computing_ranks,
        bytes=arguments.size, piece=arguments.piece, extents=arguments.extents, iterations=arguments.iterations,
        rounds=arguments.rounds, mpis=arguments.mpi, places=arguments.place, collectives=collectives,
        aggregators=arguments.aggregators, tests=arguments.tests, words=arguments.words, preload=arguments.preload,
        verify=arguments.verify or None)


class _Told:
    """The observer: sends progress to the bar on the terminal, and results to the printer."""

    def __init__(self, printer: Any, display: Any) -> None:
        self.doing = display.doing
        self.begin = display.begin
        self.run = display.run
        self.pattern = printer.pattern
