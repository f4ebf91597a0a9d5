"""Other packages that extend tailrace, tailrace_lab above all: the laboratory, which measures and compares.

They are found by entry points, so that nothing here imports them: `tailrace.commands` are commands of the command
line, `tailrace.files` kinds of files to draw, `tailrace.measurements` what `tailrace predict` measures with.
"""

from __future__ import annotations

import functools
import importlib.metadata
import pathlib
import sys

COMMANDS = {"bench": "measure on this machine what tailrace gains", "plot": "draw results, traces and write times"}


@functools.cache
def parts(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    """Returns the entry points of a group by their names."""
    return {one.name: one for one in importlib.metadata.entry_points(group=group)}


def is_installed() -> bool:
    """Returns True if there is a laboratory."""
    return set(COMMANDS) <= set(parts("tailrace.commands"))


def installed_by() -> str:
    """Returns the command that installs it: that of tailrace's repository where this Python is in its .venv."""
    in_repository = (pathlib.Path(sys.prefix).parent / "lab/tailrace_lab").is_dir()
    from_wheels = "`pip install --find-links FOLDER 'tailrace[lab]'`, with the folder of the wheels"
    return "`make build` or `pip install ./lab`" if in_repository else from_wheels


def missing(what: str) -> str:
    """Returns the message that `what` needs it."""
    return f"{what} needs the laboratory, the package tailrace_lab, which is not installed: run {installed_by()}"
