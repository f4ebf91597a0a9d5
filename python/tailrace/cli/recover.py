"""`tailrace recover`: completes or removes what a crash has left in shared memory (place core) and in a directory."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
from typing import Any

import tailrace
from tailrace.quantity import counted

from . import core_server, output, progress, recover_openfoam

SHARED_MEMORY = "shared memory"
_LEFT_ALONE = ("in use", recover_openfoam.SINGLE_PART)


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "recover", help="finish or remove the leftovers of a crash",
        description="Repairs an output directory after a crash: writes blocks that wait in shared memory (place "
                    "core), publishes complete files, and removes incomplete ones and the locks of dead clients. In "
                    "an OpenFOAM case, removes incomplete times and files. Does not touch files of running programs, "
                    "clients and servers. Exit code 1 if a step failed, or with "
                    "--dry-run, if there is anything to do.")
    parser.add_argument("directory", metavar="DIR", help="the output directory, or an OpenFOAM case")
    parser.add_argument("--dry-run", action="store_true", help="only list the findings")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    # In this order: a drained block completes a file.
    leftovers = _in_shared_memory(arguments.directory, apply=not arguments.dry_run)
    case = pathlib.Path(arguments.directory)
    if recover_openfoam.is_case(case):
        leftovers += recover_openfoam.leavings(case, apply=not arguments.dry_run)
    else:
        leftovers += tailrace.recover(arguments.directory, apply=not arguments.dry_run)
    if arguments.json:
        output.print_json([dataclasses.asdict(leftover) for leftover in leftovers])
    elif leftovers:
        output.print_table(("file", "what", "done"), ([one.file, one.kind, _deed(one)] for one in leftovers))
    else:
        print(f"{arguments.directory}: nothing to recover")
    return 1 if any(not one.done and one.kind not in _LEFT_ALONE for one in leftovers) else 0


def _in_shared_memory(directory: str, apply: bool) -> list[tailrace.Leftover]:
    """Returns what dead jobs have left in shared memory for `directory`. A job with a living server or client does
    not count."""
    found = []
    try:
        dead = [job for job in core_server.jobs_of(directory) if not job["alive"]]
    except core_server.Missing:  # a build without place core
        return []
    for job in progress.over(dead, "recovering jobs"):
        pending = sum(client.get("blocks_pending", 0) + client.get("verbs_waiting", 0) for client in job["clients"])
        failure = core_server.drain(job) if apply else ""
        found.append(tailrace.Leftover(
            file=job["job"], kind=SHARED_MEMORY, done=apply and not failure, status="failed" if failure else "ok",
            message=failure or f"{counted(pending, 'verb')} of {counted(len(job['clients']), 'client')}, "
                               f"{counted(job['shared_bytes'], 'byte')}"))
    return found


def _deed(leftover: tailrace.Leftover) -> str:
    if leftover.done and leftover.kind == SHARED_MEMORY:
        return f"written, and freed: {leftover.message}"
    if leftover.done:
        return "published" if leftover.kind == "complete" else "removed"
    if leftover.kind in _LEFT_ALONE:
        return leftover.message or "left alone: its client is running"
    if leftover.status != "ok":
        return f"failed: {leftover.message or leftover.status}"
    if leftover.kind == SHARED_MEMORY:
        return f"to be written, and freed: {leftover.message}"
    return f"to be {'published' if leftover.kind == 'complete' else 'removed'}"
