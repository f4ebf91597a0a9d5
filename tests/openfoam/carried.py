"""How tests have tailrace carry the files of OpenFOAM."""

import os

from tailrace.cli import run as run_command


def variables(place="thread", budget="256MiB", forward=None, key=None):
    """Returns what `tailrace run --openfoam` sets."""
    return run_command.openfoam_variables(None, None if forward else place, budget, os.environ, True, forward, key)
