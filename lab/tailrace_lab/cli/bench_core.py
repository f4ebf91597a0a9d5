"""`tailrace bench core`: the costs of place core for a program, against their bars.

Reads the options and passes them to bench.core; bench_bars.py prints the results. Measures nothing itself.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from . import bench_options

if TYPE_CHECKING:
    from ..bench.core import Settings

_EPILOG = """\
parts: open (open, and the first output after it), places (totals of place core beside place thread), copy (write
beside a memcpy), calls (alloc, commit, signal), handover (while fio loads the disk), filters (compression on the
core), restart (the server is killed, the files are compared).

Exit code 1 if it cannot run, 2 if the options are wrong. A missed bar is reported, and is no failure."""


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "core", help="place core: hand-over, calls, filters and restarts, against their bars", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures what place core costs a program: ratios within one run, each with median, least and\n"
                    "most, and its bar. Takes some minutes, and needs a machine that does nothing else.")
    add = parser.add_argument
    bench_options.add_result(add)
    add("--only", metavar="PART,…", help="only these parts (default: all)")
    add("--repeats", type=bench_options.count(1, 1000), metavar="N", help="runs of the part handover (default: 3)")
    add("--kills", type=bench_options.count(1, 10_000), metavar="N",
        help="how often the server is killed (default: 6)")
    add("--seed", type=bench_options.count(0, 2**31), metavar="S",
        help="seed for the times of the kills (default: 1)")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from ..bench import core

    from . import bench_bars

    settings = _settings(arguments)
    return bench_options.conduct(
        arguments, lambda stream: bench_bars.Printer(stream, arguments.quick, arguments.markdown),
        lambda printer, display: core.measure(arguments.program, settings, _Told(printer, display)))


def _settings(arguments: argparse.Namespace) -> Settings:
    from ..bench import core, program

    parts = None
    if arguments.only:
        try:
            parts = core.require_known(arguments.only.split(","))
        except program.Failed as error:
            arguments.parser.error(f"argument --only: {error}")
    settings = core.QUICK if arguments.quick else core.Settings()
    return bench_options.given(settings, directory=arguments.dir, parts=parts, repeats=arguments.repeats,
                               kills=arguments.kills, seed=arguments.seed)


class _Told:
    """The observer: sends progress to the bar on the terminal, and results to the printer."""

    def __init__(self, printer: Any, display: Any) -> None:
        self.doing = display.doing
        self.part = printer.part
        self.missing = printer.missing
