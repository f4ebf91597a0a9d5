"""`tailrace bench forward`: one program and one forwarder on this machine, beside the disk and UCX alone.

Reads the options and passes them to tailrace.bench.forward; bench_bars.py prints the results. Measures nothing
itself.
"""

from __future__ import annotations

import argparse
from typing import Any

from . import bench_options

_EPILOG = """\
Files lie on this machine's disk, those of small writes in memory. With Debian's package ucx-utils, UCX's own program
is measured beside it.

Exit code 1 if it cannot run, 2 if the options are wrong. A missed bar is reported, and is no failure."""


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "forward", help="one program and one forwarder: bandwidth and round trips, beside disk and UCX",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Starts a forwarder, and writes and reads a file through it and without it, round after round.\n"
                    "Prints bandwidth, the time of small writes, and bars. Takes some minutes, and needs a machine\n"
                    "that does nothing else.")
    bench_options.add_result(parser.add_argument, program="forward_bench")
    parser.add_argument("--repeats", type=bench_options.count(1, 1000), metavar="N",
                        help="rounds, after one to warm up (default: 5)")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from tailrace.bench import forward

    from . import bench_bars

    settings = bench_options.given(forward.QUICK if arguments.quick else forward.Settings(),
                                   directory=arguments.dir, repeats=arguments.repeats)
    return bench_options.conduct(
        arguments, lambda stream: bench_bars.Printer(stream, arguments.quick, arguments.markdown),
        lambda printer, display: forward.study(arguments.program, settings, _Told(printer, display)))


class _Told:
    """The observer: sends progress to the bar on the terminal, and results to the printer."""

    def __init__(self, printer: Any, display: Any) -> None:
        self.begin = display.begin
        self.run = display.run
        self.part = printer.part
        self.missing = printer.missing
