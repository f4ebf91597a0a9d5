"""Counts the lines that a user adds to a program for its output: those between the marks "user code begin" and "end".

Blank lines, comments and lines with only brackets do not count; each mark needs its partner. Pure, except for reading
the files.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable

_MARK = re.compile(r"^\s*(//|#|/\*)\s*user code (begin|end)\b")
_NOTHING = re.compile(r"^\s*(//.*|#(?!\s*(include|define)\b).*|/\*.*\*/|[{}()\[\];,\s]*)$")


class MarkError(Exception):
    """A mark without its partner, or a file without marks."""


def count(files: Iterable[pathlib.Path]) -> int:
    """Returns the number of lines in all files together; 0 for no file."""
    return sum(_count(file.read_text(encoding="utf-8"), file.name) for file in files)


def _count(text: str, name: str) -> int:
    lines, within, seen = 0, False, False
    for number, line in enumerate(text.splitlines(), 1):
        if mark := _MARK.match(line):
            if (mark[2] == "begin") == within:
                raise MarkError(f"{name}:{number}: found a second {mark[2]!r}, expected its partner before")
            within, seen = not within, True
        elif within and not _NOTHING.match(line):
            lines += 1
    if within or not seen:
        raise MarkError(f"{name}: found {'no end' if within else 'no marks'}, expected 'user code begin' and 'end'")
    return lines
