"""`tailrace check`: checks a configuration, and says where and why it is wrong."""

from __future__ import annotations

import argparse
from typing import Any

import tailrace

from . import output


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "check", help="check a configuration file",
        description="Checks the whole configuration, as opening it would, without writing anything. Exit code 1 if "
                    "it is wrong: the message names file, line and key, what was found and what was expected.")
    parser.add_argument("config", metavar="CONFIG", help="the YAML file")
    parser.add_argument("--client", type=int, default=0, metavar="N", help="check it for this client (default: 0)")
    parser.add_argument("--parameter", type=_parameter, action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter that the program would set; may be repeated")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    error = None
    try:
        tailrace.check(arguments.config, arguments.client, parameters=dict(arguments.parameter))
    except tailrace.Error as found:
        error = found
    if arguments.json:
        output.print_json({"config": arguments.config, "ok": error is None,
                           "status": error.status if error else "ok", "message": str(error) if error else ""})
    elif error:
        output.complain(str(error))
    else:
        print(f"{arguments.config}: ok")
    return 1 if error else 0


def _parameter(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    try:
        if name and equals:
            return name, int(value)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"expected NAME=VALUE with an integer, such as nx=44, found {text!r}")
