"""Runs tailrace-cube."""

import os
import subprocess

from tailrace import cube


def tool(*words, code=0, **variables):
    """Returns what it printed."""
    done = subprocess.run([cube.program(), *map(str, words)], capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
