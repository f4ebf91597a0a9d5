"""`tailrace recover`: what a crash has left in a directory, finished or removed."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

import tailrace

from . import output


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "recover", help="finish or remove what a crash has left",
        description="Looks through a directory for what a crash has left: publishes files that are complete, removes "
                    "incomplete ones and the locks of clients that are gone. Files of running clients are not "
                    "touched. Exit code 1 if something could not be done, or with --dry-run, if there is something "
                    "to do.")
    parser.add_argument("directory", metavar="DIR", help="the output directory")
    parser.add_argument("--dry-run", action="store_true", help="list it only")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    leftovers = tailrace.recover(arguments.directory, apply=not arguments.dry_run)
    if arguments.json:
        output.print_json([dataclasses.asdict(leftover) for leftover in leftovers])
    elif leftovers:
        output.print_table(("file", "what", "done"), ([one.file, one.kind, _deed(one)] for one in leftovers))
    else:
        print(f"{arguments.directory}: nothing to recover")
    return 1 if any(not one.done and one.kind != "in use" for one in leftovers) else 0


def _deed(leftover: tailrace.Leftover) -> str:
    if leftover.done:
        return "published" if leftover.kind == "complete" else "removed"
    if leftover.kind == "in use":
        return leftover.message or "left alone: its client is running"
    if leftover.status != "ok":
        return f"failed: {leftover.message or leftover.status}"
    return f"to be {'published' if leftover.kind == 'complete' else 'removed'}"
