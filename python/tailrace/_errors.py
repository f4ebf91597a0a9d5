"""The exceptions of tailrace. The extension sets their attributes; nothing here decides what is an error."""

from __future__ import annotations

import os
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
    - ``ticket``: if ``borrow`` raised this with ``earlier`` true, the ticket of the array that it nevertheless lent;
      else ``None``;
    - ``array``: if ``alloc`` or a read raised this with ``earlier`` true, the array that it would have returned; else
      ``None``.
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
    array: Any

    _PARTS = ("status", "code", "operation", "file", "variable", "iteration", "errno", "earlier", "more",
              "others")

    def __init__(self, message: str, *, status: str = "", code: int = 0, operation: str = "", file: str = "",
                 variable: str = "", iteration: int | None = None, errno: int | None = None,
                 earlier: bool = False, more: int = 0, others: tuple[Error, ...] = (),
                 ticket: Any = None, array: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.operation = operation
        self.file = file
        self.variable = variable
        self.iteration = iteration
        self.errno = errno
        if isinstance(self, OSError):
            self.strerror = None if errno is None else os.strerror(errno)
            self.filename = file or None
        self.earlier = earlier
        self.more = more
        self.others = others
        self.ticket = ticket
        self.array = array

    def __str__(self) -> str:
        # Not those of KeyError and OSError, which quote or rearrange it.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle carries exceptions between processes, but can carry neither a ticket nor tailrace's memory.
        return (_rebuild, (type(self), str(self), {part: getattr(self, part) for part in self._PARTS}))


class Dropped(Error):
    """Raised when ``when_full: drop`` has dropped this iteration, so that there is no memory for it."""


class InvalidArgument(Error, ValueError):
    """An argument is wrong."""


class InvalidConfig(Error, ValueError):
    """The configuration is wrong; the message names file, line and key."""


class UnknownVariable(Error, KeyError):
    """No variable of this name is declared."""


class WrongType(Error, TypeError):
    """The element type is not the declared one."""


class WrongShape(Error, ValueError):
    """The shape is not that of the layout, or cannot be one."""


class TooLarge(Error, ValueError):
    """The block can never fit into the memory budget."""


class NotFound(Error, FileNotFoundError):
    """There is no such block to read, or no such file or directory."""


class Closed(Error, ValueError):
    """The client or file has been closed."""


class Exists(Error, FileExistsError):
    """Files of an earlier run are there."""


class TimedOut(Error, TimeoutError):
    """Something did not end within the given time."""


class IoError(Error, OSError):
    """The operating system refused; ``errno`` says why."""


class ServerLost(Error, ConnectionError):
    """The node's server has died, and none has replaced it."""


class OutOfMemory(Error, MemoryError):
    """The system provides less memory than the budget requires."""


# By status code, as in tailrace.h; all others are plain errors.
_CLASSES: dict[int, type[Error]] = {
    101: InvalidArgument, 102: InvalidConfig, 103: UnknownVariable, 104: WrongType, 105: WrongShape, 107: TooLarge,
    109: NotFound, 111: Closed, 114: Exists, 201: TimedOut, 202: Dropped, 301: IoError, 304: ServerLost,
    401: OutOfMemory}
# Those of lost data. The loss of an earlier block has no other class: it must not be taken for a fault of the call.
_LOSSES = (301, 304)


def of(message: str, **parts: Any) -> Error:
    """Returns the exception for a failure, of the class that its status has."""
    code = int(parts["code"])
    known = not parts["earlier"] or code in _LOSSES
    return (_CLASSES.get(code, Error) if known else Error)(message, **parts)


def _rebuild(kind: type[Error], message: str, parts: dict[str, Any]) -> Error:
    return kind(message, **parts)


for _class in (Error, *_CLASSES.values()):
    _class.__module__ = "tailrace"
