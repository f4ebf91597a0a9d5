"""`tailrace cube`: profiles in the format Cube 4. The program tailrace-cube does the work."""

from __future__ import annotations

import argparse
from typing import Any

from tailrace import cube

from . import progress


def register(subparsers: Any) -> None:
    """Adds the command. Its own words, with --help, are the program's."""
    parser = subparsers.add_parser(
        "cube", help="remap performance profiles (.cubex), and print, compare and generate them", add_help=False,
        prefix_chars="\0")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    return progress.run([cube.program(), *arguments.words])
