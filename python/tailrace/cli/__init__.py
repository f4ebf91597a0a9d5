"""The command line `tailrace`: one file for each command.

A command is a module here with a function `register(subparsers)`, which adds its parser and sets `run` on it: a
function that takes the parsed arguments and returns the exit code. Exit codes: 0 success, 1 problems found or a
failure, 2 wrong usage. Nothing here reads `src/` or knows the file format beyond openPMD.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence

import tailrace

from . import output

# In the order of --help.
COMMANDS = ("demo", "check", "inspect", "recover", "join", "open", "run", "serve", "key", "cube", "damaris",
            "predict", "bench", "plot", "report")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except tailrace.Error as error:
        output.complain(str(error))
        return 1
    except BrokenPipeError:
        # The reader of the output, such as `head`, has gone. That is no error, but Python would report one at the
        # flush.
        sys.stdout = None
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tailrace", description="Carries a program's output to storage while the program computes on.")
    parser.add_argument("--version", action="version", version=f"tailrace {tailrace.__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = f"{__name__}.{name}"
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module).register(subparsers)
    return parser
