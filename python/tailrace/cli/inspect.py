"""`tailrace inspect`: shows what is in output files: variables, iterations, sizes, units, provenance.

src/command/inspect_command.cpp does it.
"""

from __future__ import annotations

import argparse
from typing import Any

from . import native


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "inspect", help="show the contents of output files",
        description="Shows the variables, iterations, sizes, units and provenance of output files, and the tables of "
                    "statistics (.stats.json); of a directory, its series, statistics and traces, and what a running "
                    "job of place core is doing there. Exit code 1 if one cannot be read.")
    parser.add_argument("paths", nargs="*", metavar="FILE", help="a file, or a directory")
    parser.add_argument("--forward", metavar="HOST:PORT", help="show the state of a running forwarder, instead of "
                                                               "files")
    parser.add_argument("--key", metavar="FILE", help="the key file of the forwarder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run, wrong=parser.error)


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.paths and not arguments.forward:
        arguments.wrong("found nothing to inspect, expected FILE ... or --forward HOST:PORT")
    return native.run(arguments)
