"""`tailrace check`: checks a configuration, and says where and why it is wrong: all mistakes at once."""

from __future__ import annotations

import argparse
import importlib.resources
from typing import Any

import tailrace
from tailrace.quantity import counted

from . import output, source_lines

_MOST = 100  # the library reports no more


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "check", help="check a configuration file",
        description="Checks the whole configuration, as opening it would, without writing anything. Exit code 1 if "
                    "it is wrong: each mistake is shown with file, line, column and key, what was found and what was "
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
    parser.set_defaults(run=run, usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    if arguments.schema:
        print(schema(), end="")
        return 0
    if arguments.config is None:
        arguments.usage_error("expected CONFIG, a configuration file, or --schema")
    try:
        found = tailrace.mistakes(arguments.config, arguments.client, parameters=dict(arguments.parameter))
    except tailrace.Error as error:  # of the file as a whole: it cannot be read
        if not arguments.json:
            raise
        output.print_json([{"file": arguments.config, "line": None, "column": None, "key": "", "message": str(error),
                            "hint": ""}])
        return 1
    if arguments.json:
        output.print_json([_json(mistake) for mistake in found])
    elif found:
        _show(arguments.config, found)
    else:
        print(f"{arguments.config}: ok")
    return 1 if found else 0


def schema() -> str:
    """Returns the JSON Schema of configurations."""
    return (importlib.resources.files("tailrace") / "schema.json").read_text(encoding="utf-8")


def _json(mistake: tailrace.Mistake) -> dict[str, Any]:
    return {"file": mistake.file, "line": mistake.line, "column": mistake.column, "key": mistake.key,
            "message": mistake.message, "hint": mistake.hint}


def _show(file: str, found: list[tailrace.Mistake]) -> None:
    lines = source_lines.of_file(file)
    for mistake in found:
        key = mistake.key or "(top level)"
        output.complain_of(f"{mistake.file}:{mistake.line}:{mistake.column}: {key}: found {mistake.found}, expected "
                           f"{mistake.expected}")
        for line in source_lines.excerpt(lines, mistake.line, mistake.column, mistake.hint):
            output.complain_of(line)
    more = "at least " if len(found) >= _MOST else ""
    output.complain(f"{file}: {more}{counted(len(found), 'mistake')}")


def _parameter(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    for number in (int, float):
        try:
            if name and equals:
                return name, number(value)
        except ValueError:
            pass
    raise argparse.ArgumentTypeError(f"expected NAME=VALUE with a number, such as nx=44, found {text!r}")
