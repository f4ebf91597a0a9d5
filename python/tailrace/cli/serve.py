"""`tailrace serve`: runs the server of place core, or a forwarder, in the foreground; lists the jobs of this node.

src/command/serve_command.cpp does it.
"""

from __future__ import annotations

import argparse
from typing import Any

from . import native


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
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    return native.run(arguments) if arguments.list else native.become(arguments)
