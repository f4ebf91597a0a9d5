"""The program of a forwarder, tailrace-forward: finds it, and asks a running forwarder what it does.

docs/forwarding.md describes the members of its JSON. Prints nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import tailrace
from tailrace import programs

PROGRAM = "tailrace-forward"


class Missing(Exception):
    """The program was not found."""


def find() -> str:
    """Returns the program's path: beside the package's library, else on PATH. Raises Missing."""
    found = programs.find(PROGRAM)
    if found:
        return found
    raise Missing(f"the program {PROGRAM} is neither beside the package ({programs.FOLDER}) nor on PATH")


def status(address: str, key: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns what the forwarder at HOST:PORT does. Raises Missing, and tailrace.Error if it does not answer."""
    answer = subprocess.run([find(), "--status", address, "--key", os.fspath(key)], capture_output=True, text=True,
                            errors="replace", check=False)
    if answer.returncode != 0:
        raise tailrace.Error(answer.stderr.strip() or f"{PROGRAM} --status: exit code {answer.returncode}")
    return dict(json.loads(answer.stdout))
