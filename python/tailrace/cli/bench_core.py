"""`tailrace bench core`: what place core costs a program, against its bars.

Reads the options and hands them to tailrace.bench.core; bench_bars.py says what came out. Measures nothing itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from . import bench_options, output

if TYPE_CHECKING:
    from tailrace.bench.core import Settings

_EPILOG = """\
parts: copy (write beside a memcpy), calls (alloc, commit, signal), handover (while fio loads the disk), filters
(compression on the core), restart (the server is killed, the files are compared).

Exit code 1 if it cannot run, 2 if the options are wrong. A bar that is missed is said, and is no failure."""


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "core", help="place core: hand-over, calls, filters and restarts, against their bars", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures what place core costs a program: ratios in one run, each with median, least and most,\n"
                    "and the bar that it is to keep. Takes some minutes; needs a machine that does nothing else.")
    add = parser.add_argument
    add("--dir", type=pathlib.Path, metavar="DIR", help="where to write (default: out/bench)")
    add("--only", metavar="PART,…", help="some parts (default: all)")
    add("--repeats", type=bench_options.count(1, 1000), metavar="N", help="runs of handing over (default: 3)")
    add("--kills", type=bench_options.count(1, 10_000), metavar="N", help="deaths of the server (default: 6)")
    add("--seed", type=bench_options.count(0, 2**31), metavar="S", help="of when it is killed (default: 1)")
    add("--quick", action="store_true", help="tiny, to see that it works; measures nothing")
    add("--markdown", action="store_true", help="print tables as Markdown")
    add("--json", metavar="FILE", help="write the result to FILE; - prints it instead of the tables")
    add("--program", type=pathlib.Path, metavar="PATH",
        help="the program core_bench (default: where `make build` puts it)")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from tailrace.bench import core, program

    from . import bench_bars, bench_display  # here: rich takes its time to start

    settings = _settings(arguments)
    stream = sys.stderr if arguments.json == "-" else sys.stdout
    try:
        bench_options.require_folder(arguments.json)
        printer = bench_bars.Printer(stream, arguments.quick, arguments.markdown)
        with bench_display.Display(printer) as display:
            document = core.measure(arguments.program, settings, _Told(printer, display))
        printer.conclude(document)
        bench_options.save(document, arguments.json)
    except (program.Failed, OSError) as error:
        output.complain(str(error))
        return 1
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    from tailrace.bench import core, program

    given: dict[str, Any] = {"directory": arguments.dir, "repeats": arguments.repeats, "kills": arguments.kills,
                             "seed": arguments.seed}
    if arguments.only:
        try:
            given["parts"] = core.require_known(arguments.only.split(","))
        except program.Failed as error:
            arguments.parser.error(f"argument --only: {error}")
    return dataclasses.replace(core.QUICK if arguments.quick else core.Settings(),
                               **{name: value for name, value in given.items() if value is not None})


class _Told:
    """The observer: what is done goes to the bar on the terminal, what came out to the printer."""

    def __init__(self, printer: Any, display: Any) -> None:
        self.doing = display.doing
        self.part = printer.part
        self.missing = printer.missing
