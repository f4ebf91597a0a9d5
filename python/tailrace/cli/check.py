"""`tailrace check`: checks a configuration, and says where and why it is wrong: all mistakes at once.

src/command/check_command.cpp does it.
"""

from __future__ import annotations

import argparse
from typing import Any

from . import native


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "check", help="check a configuration file",
        description="Checks the whole configuration, as opening it would, without writing anything; not whether the "
                    "machine has the memory, the processors and the directory that it names. Exit code 1 if it is "
                    "wrong: each mistake is shown with file, line, column and key, what was found and what was "
                    "expected, and the line itself.")
    parser.add_argument("config", metavar="CONFIG", nargs="?", help="the YAML file")
    parser.add_argument("--client", type=int, default=0, metavar="N", help="check it for this client (default: 0)")
    parser.add_argument("--parameter", type=_parameter, action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter that the program would set; may be repeated")
    parser.add_argument("--json", action="store_true",
                        help="print the mistakes as JSON: a list of objects with file, line, column, key, message "
                             "and hint")
    parser.add_argument("--schema", action="store_true",
                        help="print the JSON Schema of configurations, with which editors complete and check them")
    parser.set_defaults(run=_run, wrong=parser.error)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.config is None and not arguments.schema:
        arguments.wrong("expected CONFIG, a configuration file, or --schema")
    return native.run(arguments)


def _parameter(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    for number in (int, float):
        try:
            if name and equals:
                return name, number(value)
        except ValueError:
            pass
    raise argparse.ArgumentTypeError(f"expected NAME=VALUE with a number, such as nx=44, found {text!r}")
