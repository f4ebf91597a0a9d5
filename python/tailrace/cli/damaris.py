"""`tailrace damaris`: descriptions of Damaris in XML. The program tailrace-damaris does the work."""

from __future__ import annotations

import argparse
from typing import Any

from tailrace import programs

from . import output, progress

PROGRAM = "tailrace-damaris"


def register(subparsers: Any) -> None:
    """Adds the command. Its own words, with --help, are the program's."""
    parser = subparsers.add_parser(
        "damaris", help="check descriptions of Damaris (XML), and convert them to configurations", add_help=False,
        prefix_chars="\0")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    program = programs.find(PROGRAM)
    if program is None:
        output.complain(f"{PROGRAM}: found it neither in the package nor on PATH")
        return 1
    return progress.run([program, *arguments.words])
