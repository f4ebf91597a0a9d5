"""`tailrace predict`: what a program would gain, before it is ported.

From numbers that are given, or measured on this machine and directory, it prints the predicted totals of the places,
the advice, and where it would change. `tailrace.models` has the models; `predict_input` turns options into their
inputs and `predict_show` prints their results.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

from . import output, predict_input as given, predict_show as show

_EXAMPLES = """\
examples:
  tailrace predict --compute 0.4s --bytes 256MiB --bandwidth 2GB/s --cores 24
  tailrace predict --compute 0.4s --bytes 256MiB --measure out/
  tailrace predict --pst rho=0.3s,U=1.2s --write-times rho=0.4s,U=0.5s

A FILE for --pst is the JSON of one run of the program `pattern`, or has a line for each variable, "rho 0.3s 0.4s":
its name, PST and write time, and its hand-over time within the iteration if that is not the end. Sizes: MiB is 2^20
bytes, MB is 10^6. docs/models.md has the models and their accuracy.
"""


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "predict", help="predict what a program would gain, before you port it",
        description="Predicts how long a program that computes and writes in turn would take, synchronously and in\n"
                    "each place of tailrace. Recommends a place, and says where that would change.",
        epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    # "-1s" is a value, which the message then rejects, and not an option.
    parser._negative_number_matcher = re.compile(r"-[\d.]")
    _add_program(parser)
    _add_machine(parser)
    _add_variables(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=lambda arguments: run(arguments, parser))


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Runs the command; returns the exit code."""
    try:
        task = given.read(arguments)
    except given.WrongUsage as error:
        parser.error(str(error))
    except given.Unmeasured as error:
        output.complain(str(error))
        return 1
    document = show.document(task)
    if arguments.json:
        output.print_json(document)
    else:
        show.print_all(task)
    return 0


def _add_program(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the program")
    computing = group.add_mutually_exclusive_group()
    computing.add_argument("--compute", type=given.time, metavar="TIME",
                           help="C: computing between two outputs, such as 0.4s")
    computing.add_argument("--c-over-w", type=given.ratio, metavar="RATIO",
                           help="C as a multiple of the time to write, such as 1")
    group.add_argument("--bytes", type=given.size, metavar="SIZE", help="bytes of one output, such as 256MiB")
    group.add_argument("--iterations", type=given.count, default=100, metavar="N", help="outputs (default: 100)")
    group.add_argument("--variables", type=given.count, default=1, metavar="V",
                       help="equal parts of an output, each handed over when it is computed (default: 1)")
    group.add_argument("--slowdown", type=given.share, default=0.0, metavar="PERCENT",
                       help="how much a writer thread slows computing, such as 2%% (default: 0%%)")


def _add_machine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the machine")
    writing = group.add_mutually_exclusive_group()
    writing.add_argument("--bandwidth", type=given.rate, metavar="RATE",
                         help="write rate of one device, such as 2GB/s")
    writing.add_argument("--measure", action="append", metavar="DIR",
                         help="measure writing, handing over and copying, with temporary files in this directory; "
                              "repeat it for several devices")
    group.add_argument("--samples", type=given.samples, metavar="COUNT",
                       help="writes of each measurement (default: 24)")
    group.add_argument("--pattern", metavar="PATH", help="the program that measures (default: where `make build` "
                                                         "puts it)")
    group.add_argument("--devices", type=given.count, metavar="N",
                       help="independent devices (default: 1, or as many as directories to measure)")
    group.add_argument("--copy-bandwidth", type=given.rate, metavar="RATE",
                       help="rate of copies between warm buffers (default: 10GB/s, or measured)")
    group.add_argument("--request", type=given.time, metavar="TIME",
                       help="time to hand over a block (default: 2.1us, or measured)")
    group.add_argument("--cores", type=given.count, metavar="N",
                       help="cores of a node; with 2 or more, place core is predicted, too")
    group.add_argument("--dedicated-compute", type=given.time, metavar="TIME",
                       help="C with one core fewer (default: C·N/(N−1))")
    group.add_argument("--dedicated-write", type=given.time, metavar="TIME",
                       help="W of the dedicated core (default: the same as W)")
    group.add_argument("--place", action="append", choices=("thread", "core"),
                       help="compare only this place with the synchronous program; may be repeated")


def _add_variables(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the waits of single variables, by their potential shield times (PST)")
    group.add_argument("--pst", metavar="FILE|NAME=TIME,…",
                       help="time from hand-over until the memory is needed again, in the order of hand-over")
    group.add_argument("--write-times", metavar="NAME=TIME,…",
                       help="time to write each (default: equal parts of the time to write an output)")
    group.add_argument("--interval", type=given.ratio, metavar="RATIO",
                       help="the time between two outputs, as a multiple of that in the trace or run, such as 2")
    group.add_argument("--handovers", metavar="NAME=TIME,…",
                       help="when each is handed over, from the start of the iteration (default: all at its end)")
