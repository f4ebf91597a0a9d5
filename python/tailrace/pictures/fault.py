"""The one error of this package: what cannot be drawn or written, where, and what was expected."""

from __future__ import annotations


class PictureError(Exception):
    """Its text is for the user: a place (file, line, column, key), what was found, what was expected."""

    def __init__(self, place: object, message: str) -> None:
        # What a file holds may not be text that can be printed: half a surrogate pair.
        super().__init__(f"{place}: {message}".encode("utf-8", "backslashreplace").decode("utf-8"))
