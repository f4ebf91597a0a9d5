"""The exceptions of tailrace. The extension sets their attributes; nothing here decides what is an error."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """A failure with all its details: of the call that raised it, or (``earlier`` true) of a block handed over
    before.

    ``str(error)`` is a complete message. Its parts:

    - ``status``: what went wrong in words (``"wrong type"``), and ``code``, the same as a ``tailrace.Status``;
    - ``operation``, ``file``, ``variable``: what it concerns; ``""`` if that does not apply;
    - ``iteration``, ``errno`` (of the operating system): ``None`` if that does not apply;
    - ``earlier``: true if the call that raised this *was carried out*, and a block handed over before was lost;
    - ``more``: the number of further failures that no call has reported yet;
    - ``others``: these failures, each an ``Error``, if ``close`` (or leaving the ``with`` block) raised this; else
      empty;
    - ``ticket``: if ``borrow`` raised this with ``earlier`` true, the ticket of the array that it lent all the same;
      else ``None``.
    """

    status: str
    code: int
    operation: str
    file: str
    variable: str
    iteration: int | None
    errno: int | None
    earlier: bool
    more: int
    others: tuple[Error, ...]
    ticket: Any

    _PARTS = ("status", "code", "operation", "file", "variable", "iteration", "errno", "earlier", "more",
              "others")

    def __init__(self, message: str, *, status: str = "", code: int = 0, operation: str = "", file: str = "",
                 variable: str = "", iteration: int | None = None, errno: int | None = None,
                 earlier: bool = False, more: int = 0, others: tuple[Error, ...] = (),
                 ticket: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.operation = operation
        self.file = file
        self.variable = variable
        self.iteration = iteration
        self.errno = errno
        self.earlier = earlier
        self.more = more
        self.others = others
        self.ticket = ticket

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle carries exceptions between processes, but cannot carry a ticket.
        return (_rebuild, (type(self), str(self), {part: getattr(self, part) for part in self._PARTS}))


class Dropped(Error):
    """Raised when ``when_full: drop`` has dropped this iteration, so that there is no memory for it."""


def _rebuild(kind: type[Error], message: str, parts: dict[str, Any]) -> Error:
    return kind(message, **parts)


Error.__module__ = Dropped.__module__ = "tailrace"
