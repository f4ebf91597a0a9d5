"""The line of a file that a message is about, with a mark under the place, as compilers show it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

_WIDEST = 100  # characters of a line; of a longer one the surroundings of the place are shown
_BEFORE = 60


def of_file(name: str) -> list[bytes]:
    """Returns the lines of a file; none if it cannot be read."""
    try:
        with open(name, "rb") as file:
            return file.read().split(b"\n")
    except OSError:
        return []


def excerpt(lines: Sequence[bytes], line: int, column: int, hint: str = "") -> list[str]:
    """Returns the lines to print: the source, a caret below the column (which counts bytes, from 1), and the hint."""
    if not 1 <= line <= len(lines):
        return [f"  = {hint}"] if hint else []
    before, after = (_readable(part) for part in (lines[line - 1][:column - 1], lines[line - 1][column - 1:]))
    if len(before) > _BEFORE:
        before = "…" + before[-_BEFORE:]
    text = (before + after)[:_WIDEST] + ("…" if len(before + after) > _WIDEST else "")
    margin = " " * max(4, len(str(line)))
    shown = [f"{line:>{len(margin)}} | {text}".rstrip(), f"{margin} | {' ' * cell_len(before)}^"]
    return [*shown, f"{margin} = {hint}"] if hint else shown


def _readable(part: bytes) -> str:
    text = part.decode("utf-8", "replace").rstrip("\r").expandtabs(1)
    return "".join(letter if letter.isprintable() else "�" for letter in text)
