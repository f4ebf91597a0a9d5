"""The program of place core, tailrace-core: finds it, and asks it about the jobs of this node.

Starts it and reads its JSON; docs/watching.md describes the members. Prints nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import tailrace
from tailrace import programs

PROGRAM = "tailrace-core"


class Missing(Exception):
    """The program was not found."""


def find() -> str:
    """Returns the program's path: $TAILRACE_SERVER, else beside the package's library, else on PATH. Raises
    Missing."""
    named = os.environ.get("TAILRACE_SERVER")
    if named:
        if os.access(named, os.X_OK) and os.path.isfile(named):
            return named
        raise Missing(f"'{named}', as TAILRACE_SERVER says, is not an executable file")
    found = programs.find(PROGRAM)
    if found:
        return found
    raise Missing(f"the program {PROGRAM} is neither beside the package ({programs.FOLDER}) nor on PATH; "
                  "TAILRACE_SERVER can name it")


def jobs() -> list[dict[str, Any]]:
    """Returns all jobs of this user on this node, living and dead. Raises Missing, and tailrace.Error."""
    return _status()


def _status(*options: str) -> list[dict[str, Any]]:
    answer = subprocess.run([find(), "--status", *options], capture_output=True, text=True, errors="replace",
                            check=False)
    if answer.returncode != 0:
        raise tailrace.Error(answer.stderr.strip() or f"{PROGRAM} --status: exit code {answer.returncode}")
    return list(json.loads(answer.stdout)["jobs"])


def jobs_of(directory: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Returns those that write to `directory`, also those whose servers died before a client had come."""
    real = os.path.realpath(directory)
    return [job for job in _status("--output", real) if real in map(os.path.realpath, job["output"])]
