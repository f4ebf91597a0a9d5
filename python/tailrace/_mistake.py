"""One mistake of a configuration, as `mistakes` returns them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """One mistake in a configuration. ``str(mistake)`` is a complete message."""

    file: str
    line: int  #: counts from 1, like ``column``
    column: int  #: in bytes
    key: str  #: its path, such as ``"layouts.field.shape[1]"``; ``""`` for the whole file
    found: str
    expected: str
    hint: str  #: ``""`` if there is none

    @property
    def message(self) -> str:
        """What was found and expected, and the hint."""
        return f"found {self.found}, expected {self.expected}" + (f"; {self.hint}" if self.hint else "")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.key or '(top level)'}: {self.message}"


Mistake.__module__ = "tailrace"
