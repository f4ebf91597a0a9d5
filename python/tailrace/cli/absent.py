"""The commands of the laboratory where it is not installed: they say what is missing."""

from __future__ import annotations

import argparse
from typing import Any

from tailrace import lab

from . import output


def register(subparsers: Any, name: str) -> None:
    """Adds the command, which takes any words."""
    parser = subparsers.add_parser(name, help=f"{lab.COMMANDS[name]} (not installed: needs {lab.installed_by()})",
                                   add_help=False, prefix_chars="\0")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    parser.set_defaults(run=lambda arguments: _run(name))


def _run(name: str) -> int:
    output.complain(lab.missing(f"tailrace {name}"))
    return 1
