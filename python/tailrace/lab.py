"""Other packages that extend tailrace, tailrace_lab above all: the laboratory, which measures and compares.

They are found by entry points, so that nothing here imports them: `tailrace.commands` are commands of the command
line, `tailrace.files` kinds of files to draw, `tailrace.measurements` what `tailrace predict` measures with.
"""

from __future__ import annotations

import functools
import importlib.metadata

PIP = "`pip install 'tailrace[lab]'`"
COMMANDS = {"bench": "measure on this machine what tailrace gains", "plot": "draw results, traces and write times"}


@functools.cache
def parts(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    """Returns the entry points of a group by their names."""
    return {one.name: one for one in importlib.metadata.entry_points(group=group)}


def is_installed() -> bool:
    """Returns True if there is a laboratory."""
    return set(COMMANDS) <= set(parts("tailrace.commands"))


def missing(what: str) -> str:
    """Returns the message that `what` needs it."""
    return f"{what} needs the laboratory, the package tailrace_lab, which is not installed: run {PIP}"
