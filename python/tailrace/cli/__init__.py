"""The command line `tailrace`: one file for each command.

A command is a module here with a function `register(subparsers)`, which adds its parser and sets `run` on it: a
function that takes the parsed arguments and returns the exit code. An entry point of the group `tailrace.commands` is
such a function of another package, under the command's name; `bench` and `plot` come with tailrace_lab. Exit codes:
0 success, 1 problems found or a failure, 2 wrong usage. Nothing here reads `src/` or knows the file format beyond
openPMD.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any

import tailrace
from tailrace import lab, programs

from . import absent, output, plots, usage

HANDED_OVER = "TAILRACE_HANDED_OVER"  # set by the program `tailrace` that hands a command over (src/command)

# In the order of --help.
COMMANDS = ("demo", "check", "inspect", "recover", "join", "open", "run", "doors", "serve", "key", "cube", "damaris",
            "predict", "bench", "plot", "report", "completion")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    os.environ.pop(HANDED_OVER, None)
    words = list(sys.argv[1:] if arguments is None else arguments)
    parsed = parser().parse_args(words)
    parsed.command_line = words
    try:
        return int(parsed.run(parsed))
    except tailrace.Error as error:
        output.complain(str(error))
        return 1
    except ModuleNotFoundError as error:
        if not plots.is_missing(error):
            raise
        output.complain(plots.MISSING)
        return 1
    except BrokenPipeError:
        # The reader of the output, such as `head`, has gone. That is no error, but Python would report one at the
        # flush.
        sys.stdout = None
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """Returns the parser of all commands."""
    made = usage.Parser(
        prog="tailrace", description="Writes a program's output in the background, while the program computes.")
    made.add_argument("--version", action="version", version=f"tailrace {tailrace.__version__}")
    made.add_argument("--cmake-dir", action=_CmakeFolder, nargs=0,
                      help="print the folder for CMake's variable tailrace_DIR, for programs in C, C++ and Fortran")
    subparsers = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    added = lab.parts("tailrace.commands")
    for name in dict.fromkeys((*COMMANDS, *added)):
        module = f"{__name__}.{name}"
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module).register(subparsers)
        elif name in added:
            added[name].load()(subparsers)
        elif name in lab.COMMANDS:
            absent.register(subparsers, name)
    return made


class _CmakeFolder(argparse.Action):
    """Prints where CMake's files are, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        print(programs.CMAKE)
        parser.exit()
