"""`tailrace completion`: prints the script by which a shell completes commands, options, their values and files."""

from __future__ import annotations

import argparse
from typing import Any

import shtab

SHELLS = ("bash", "zsh", "fish")

# Words in the help that stand for files, and for directories.
_FILES = ("FILE", "CONFIG", "PATH", "TARGET")
_DIRECTORIES = ("DIR",)

_EPILOG = """\
To use it:
  bash   source <(tailrace completion bash)           (in ~/.bashrc)
  zsh    tailrace completion zsh > DIR/_tailrace      (DIR is in $fpath, before compinit)
  fish   tailrace completion fish > ~/.config/fish/completions/tailrace.fish
"""


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "completion", help="print the completion script of a shell",
        description="Prints a script with which the shell completes commands, options and files.", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    from . import parser  # which registers this module

    whole = parser()
    _prepare(whole)
    print(shtab.complete(whole, arguments.shell))
    return 0


def _prepare(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for listed in action._choices_actions:  # the short help, which fits beside a word
                action.choices[listed.dest].description = listed.help
            for command in set(action.choices.values()):
                _prepare(command)
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _DIRECTORIES:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
