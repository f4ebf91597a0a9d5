"""The error of this package: what cannot be drawn or written, where, and what was expected."""

from __future__ import annotations


class PictureError(Exception):
    """The text is for the user: a place (file, line, column, key), what was found, what was expected."""

    def __init__(self, place: object, message: str) -> None:
        # A file's content may not be printable: half a surrogate pair.
        super().__init__(f"{place}: {message}".encode("utf-8", "backslashreplace").decode("utf-8"))
