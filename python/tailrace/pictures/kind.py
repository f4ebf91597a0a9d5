"""A kind of file of which there are pictures: how it is recognised, read, drawn, and described in a report."""

from __future__ import annotations

import pathlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Window:
    """The seconds of a trace to draw; None: as many as fit."""

    begin: float | None = None
    end: float | None = None


class Kind:
    """The base of all kinds. `data` is what read() returned. Errors are PictureErrors."""

    found = ""  #: what a file is, in a message: "a trace"
    expected = ""  #: the same where a file is of no kind
    suffixes: tuple[str, ...] = ()  #: files with these are of this kind, and no JSON
    captions: dict[str, str] = {}  #: how to read each picture that this kind may give, by the picture's name
    needs: dict[str, str] = {}  #: what a file must have for it
    glossary: tuple[tuple[str, str], ...] = ()  #: words and their meanings, for a report

    def recognises(self, document: Any) -> bool:
        """Returns True if a JSON document is of this kind."""
        raise NotImplementedError

    def read(self, path: pathlib.Path, document: Any) -> Any:
        """Checks a document that is recognised; returns its data."""
        raise NotImplementedError

    def read_text(self, path: pathlib.Path, text: str) -> Any:
        """Reads a file with one of `suffixes`; returns its data."""
        raise NotImplementedError

    def default(self, data: Any) -> list[str]:
        """Returns the names of the pictures that are drawn unless one is asked for."""
        return list(self.captions)

    def possible(self, data: Any) -> set[str]:
        """Returns the names of all pictures that can be drawn."""
        return set(self.default(data))

    def group(self, data: Any) -> Hashable:
        """Returns a key that files of one picture have in common; None if this file is alone."""
        return None

    def draw(self, picture: str, files: Sequence[tuple[pathlib.Path, Any]], window: Window) -> tuple[Figure, str]:
        """Draws a picture of files of one group; returns it, and its description in text."""
        raise NotImplementedError

    def header(self, data: Any) -> Any:
        """Returns the document that says whether it comes from a quick run."""
        return data

    def sentences(self, data: Any, described: list[str]) -> list[str]:
        """Returns what a report says first; `described` has the descriptions of the pictures."""
        return described

    def before(self, data: Any) -> list[str]:
        """Returns HTML for a report, before the pictures."""
        return []

    def after(self, data: Any) -> list[str]:
        """Returns HTML for a report, after the pictures."""
        return []
