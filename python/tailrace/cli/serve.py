"""`tailrace serve`: runs the server of place core, or a forwarder, in the foreground; lists the jobs of this node."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from . import core_server, forwarder, output


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "serve", help="run the server of place core or a forwarder, or list the jobs of this node",
        description="`tailrace serve core --config sim.yaml` runs the node's server in the foreground. Start it "
                    "before the programs that use it; otherwise the first of them starts one. It ends when the last "
                    "client has left. `tailrace serve --list` shows the jobs, servers and clients of this node. "
                    "`tailrace serve forward --config io.yaml` runs a forwarder, which writes for other nodes, until "
                    "it gets SIGTERM (docs/forwarding.md).")
    parser.add_argument("place", nargs="?", choices=["core", "forward"], help="the place to serve, or a forwarder")
    parser.add_argument("--list", action="store_true", help="list the jobs of this user on this node")
    parser.add_argument("--json", action="store_true", help="with --list: print JSON")
    job = parser.add_mutually_exclusive_group()
    job.add_argument("--config", metavar="FILE", help="the configuration file of the programs to serve")
    job.add_argument("--job", help="the job's directory, as --list shows it")
    parser.add_argument("--path", metavar="DIR", help="the output directory, if the programs replace storage.path")
    parser.add_argument("--parameter", action="append", default=[], metavar="NAME=NUMBER",
                        help="a parameter that the programs set; may be repeated")
    parser.add_argument("--server", type=int, metavar="K", help="which of the node's servers, from 0 (place.cores)")
    parser.add_argument("--wait", type=float, metavar="S",
                        help="end if no client comes within S seconds (default: wait without limit)")
    parser.add_argument("--drain", action="store_true", help="write the data of dead servers, and end")
    parser.add_argument("--log", choices=["info", "warning", "error", "off"], help="lowest level to log, on stderr")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code. To serve, this process becomes the server."""
    try:
        if arguments.list:
            return _list(arguments.json)
        if arguments.place is None or not (arguments.config or arguments.job):
            output.complain("serve: what? `serve core --config FILE`, `serve core --job JOB`, "
                            "`serve forward --config FILE`, or `serve --list`")
            return 2
        if arguments.place == "forward":
            return _forward(arguments)
        program = core_server.find()
    except (core_server.Missing, forwarder.Missing) as error:
        output.complain(str(error))
        return 1
    sys.stdout.flush()
    # By exec, so that a batch system's signals reach the server itself.
    os.execv(program, [program, *_passed_on(arguments)])


def _forward(arguments: argparse.Namespace) -> int:
    """Becomes the forwarder; returns an exit code if that is wrong."""
    if arguments.config is None:
        output.complain("serve: found `serve forward` without --config FILE")
        return 2
    program = forwarder.find()
    sys.stdout.flush()
    os.execv(program, [program, "--config", arguments.config] + (["--log", arguments.log] if arguments.log else []))


def _passed_on(arguments: argparse.Namespace) -> Iterator[str]:
    for name in ("config", "job", "path", "server", "wait", "log"):
        value = getattr(arguments, name)
        if value is not None:
            yield from (f"--{name}", str(value))
    for parameter in arguments.parameter:
        yield from ("--parameter", parameter)
    if arguments.drain:
        yield "--drain"


def _list(as_json: bool) -> int:
    jobs = core_server.jobs()
    if as_json:
        output.print_json(jobs)
        return 0
    if not jobs:
        print("no jobs of place core on this node")
        return 0
    output.print_table(("job", "servers", "clients", "shared memory", "output"), map(_row, jobs))
    return 0


def _row(job: dict[str, Any]) -> tuple[str, ...]:
    return (job["job"], _of(job["servers"]), _of(job["clients"]), output.size(job["shared_bytes"]),
            ", ".join(job["output"]) or "unknown")


def _of(those: list[dict[str, Any]]) -> str:
    """Returns "3 alive", "1 alive, 2 closed, 1 dead": data of a closed one are still being written, even if it still
    runs."""
    closed = sum(one.get("closed", False) for one in those)
    alive = sum(one["alive"] and not one.get("closed", False) for one in those)
    dead = len(those) - alive - closed
    return f"{alive} alive" + (f", {closed} closed" if closed else "") + (f", {dead} dead" if dead else "")
