"""`tailrace recover`: completes or removes what a crash has left in shared memory (place core) and in a directory.

src/command/recover_command.cpp does it.
"""

from __future__ import annotations

from typing import Any

from . import native


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
    parser.set_defaults(run=native.run)
