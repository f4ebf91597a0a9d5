"""The commands that administrators need where there is no Python, too: the program tailrace-core has them, under the
name `tailrace` (src/command). The modules of these commands have only their options, for --help and completion."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from . import core_server, output, progress


def run(arguments: argparse.Namespace) -> int:
    """Runs the command as it was given; returns the exit code. A kernel runs the package again, on a terminal."""
    if progress.is_kernel():
        return progress.run([sys.executable, "-m", "tailrace", *arguments.command_line])
    program = _find()
    if program is None:
        return 1
    code = subprocess.run(["tailrace", *arguments.command_line], executable=program, check=False).returncode
    return code if code >= 0 else 128 - code  # as a shell tells a signal


def become(arguments: argparse.Namespace) -> int:
    """Becomes the command, so that signals reach it; returns an exit code if that is not possible."""
    program = _find()
    if program is None:
        return 1
    os.execv(program, ["tailrace", *arguments.command_line])


def _find() -> str | None:
    sys.stdout.flush()
    try:
        return core_server.find()
    except core_server.Missing as why:
        output.complain(str(why))
        return None
