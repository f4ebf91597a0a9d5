"""The parts that the commands of `tailrace bench` share: options, the steps from the command line to the end, and
result files."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import pathlib
import sys
from collections.abc import Callable
from typing import IO, Any, TypeVar

from tailrace import own_file, quantity
from tailrace.cli import output

_PAGE = 4096

_Settings = TypeVar("_Settings")


def add_result(add: Callable[..., Any], program: str = "core_bench") -> None:
    """Adds the options of every study that a program makes: where it writes, what it prints, and where the program
    is."""
    add("--dir", type=pathlib.Path, metavar="DIR", help="where to write (default: out/bench)")
    add("--quick", action="store_true", help="tiny runs, to check that everything works; measures nothing")
    add("--markdown", action="store_true", help="print tables as Markdown")
    add("--json", metavar="FILE", help="write the result to FILE; - prints it instead of the tables")
    add("--program", type=pathlib.Path, metavar="PATH",
        help=f"the program {program} (default: where `make build` puts it)")


def given(settings: _Settings, **values: Any) -> _Settings:
    """Returns the settings with those of the values that are given."""
    return dataclasses.replace(settings,  # type: ignore[type-var]
                               **{name: value for name, value in values.items() if value is not None})


def conduct(arguments: argparse.Namespace, make_printer: Callable[[IO[str]], Any],
            measure: Callable[[Any, Any], dict[str, Any]]) -> int:
    """Measures, with the bar on the terminal, prints the results and writes the file; returns the exit code."""
    from ..bench import program

    from . import bench_display  # here: rich imports slowly

    # With --json - the output is the document alone; tables and bar go to standard error.
    printer = make_printer(sys.stderr if arguments.json == "-" else sys.stdout)
    try:
        require_folder(arguments.json)
        with bench_display.Display(printer) as display:
            document = measure(printer, display)
        if arguments.quick:
            document["quick"] = True
        printer.conclude(document)
        save(document, arguments.json)
    except (program.Failed, OSError) as error:
        output.complain(str(error))
        return 1
    return 0


def count(least: int, most: int) -> Callable[[str], int]:
    """Returns the parser of a whole number."""
    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"expected a number from {least} to {most}, found {text!r}")

    return parse


def size(least: int, most: int) -> Callable[[str], int]:
    """Returns the parser of a size, in bytes; a multiple of 1 KiB."""
    def parse(text: str) -> int:
        try:
            found = quantity.parse_size(text)
        except quantity.QuantityError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        if not least <= found <= most or found % 1024:
            raise argparse.ArgumentTypeError(f"expected a multiple of 1 KiB from {quantity.format_size(least)} to "
                                             f"{quantity.format_size(most)}, found {text!r}")
        return found

    return parse


def block_sizes(text: str) -> tuple[int, ...]:
    """Parses sizes of blocks, separated by commas; each is a multiple of a page, since transfers bypass the page
    cache."""
    found = []
    for word in text.split(","):
        try:
            size = quantity.parse_size(word)
        except quantity.QuantityError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        if not 0 < size <= 1 << 31 or size % _PAGE:
            raise argparse.ArgumentTypeError(f"expected multiples of 4KiB up to 2GiB, found {word!r}")
        found.append(size)
    return tuple(dict.fromkeys(found))


def time(text: str) -> float:
    """Parses seconds, up to an hour."""
    try:
        found = quantity.parse_time(text)
    except quantity.QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not 0 < found <= 3600:
        raise argparse.ArgumentTypeError(f"expected more than 0 and 1h at most, found {text!r}")
    return found


def ratio(text: str) -> float:
    """Parses a number above zero."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above zero, such as 0.5, found {text!r}")
    return found


def words(known: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    """Returns the parser of a selection of words, separated by commas."""
    def parse(text: str) -> tuple[str, ...]:
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}, found {word!r}")
        return tuple(dict.fromkeys(text.split(",")))

    return parse


def require_folder(where: str | pathlib.Path | None) -> None:
    """Checks the place of an output file before the runs, not after them; raises FileNotFoundError."""
    if where not in (None, "-") and not pathlib.Path(str(where)).parent.is_dir():
        raise FileNotFoundError(f"{where}: expected a file in a directory that exists")


def save(document: dict[str, Any], where: str | None) -> None:
    """Prints the document, or writes the complete file or nothing; may raise OSError."""
    if where == "-":
        output.print_json(document)
    elif where:
        own_file.write_whole(pathlib.Path(where),
                             json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        print(f"result:   {where}")
