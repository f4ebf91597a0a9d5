"""tailrace: carries a program's output to storage while the program computes on.

    import tailrace

    with tailrace.open("sim.yaml") as out:
        for step in range(steps):
            out.write("temperature", step, temperature)
            out.end_iteration(step)
"""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Union

from . import _tailrace
from ._errors import Dropped, Error
from ._stats import FileStats, Sizes, Times, VariableStats
from ._tailrace import Client, File, Status, Ticket
from .reading import read

__all__ = ["Client", "Dropped", "Error", "File", "FileStats", "Leftover", "Sizes", "Status", "Ticket", "Times",
           "VariableStats", "__version__", "check", "open", "read", "recover"]

__version__: str = _tailrace.version()

_Path = Union[str, "os.PathLike[str]"]


def open(config: _Path, client: int = 0, *, parameters: Mapping[str, float] | None = None, path: _Path | None = None,
         text: str | None = None) -> Client:
    """Opens client ``client`` (0 or more; usually the MPI rank) with the configuration file ``config``.

    ``parameters`` replace or extend the file's ``parameters:``, and ``path`` replaces ``storage.path``. ``text``, if
    given, is the YAML itself, and ``config`` only its name in messages. Raises ``tailrace.Error``.
    """
    opened = _tailrace.open(os.fspath(config), client, list((parameters or {}).items()), _optional(path), text)
    _open_clients[opened] = os.getpid()
    return opened


def check(config: _Path, client: int = 0, *, parameters: Mapping[str, float] | None = None,
          path: _Path | None = None, text: str | None = None, flush_waits: bool = False) -> None:
    """Checks the whole configuration, as ``open`` would, without opening anything. Raises ``tailrace.Error``.

    With ``flush_waits``, also rejects a configuration with which ``flush`` waits for nothing (``storage.durability:
    accepted``).
    """
    # In a configuration, the client is the parameter of that name.
    given = {"client": client, **(parameters or {})}
    _tailrace.check(os.fspath(config), list(given.items()), _optional(path), text, flush_waits)


@dataclass(frozen=True)
class Leftover:
    """One file that a crash left behind, and what ``recover`` did with it."""

    file: str
    kind: str  #: "complete", "incomplete", "in use" or "stale lock"
    done: bool  #: it was finished or removed
    status: str  #: "ok", or what went wrong with this one
    message: str


_KINDS = {1: "complete", 2: "incomplete", 3: "in use", 4: "stale lock"}


def recover(directory: _Path, apply: bool = True) -> list[Leftover]:
    """Looks in ``directory`` for what a crash left there.

    With ``apply``, publishes complete files, and removes incomplete ones and stale locks; otherwise only lists them.
    Never touches files of running clients. Raises ``tailrace.Error``.
    """
    found = _tailrace.recover(os.fspath(directory), apply)
    return [Leftover(file, _KINDS.get(kind, str(kind)), done, status, message)
            for file, kind, done, status, message in found]


def _optional(path: _Path | None) -> str | None:
    return None if path is None else os.fspath(path)


# Each client with the process that opened it.
_open_clients: weakref.WeakKeyDictionary[Client, int] = weakref.WeakKeyDictionary()


@atexit.register
def _close_at_exit() -> None:
    # If a program ends without closing, its blocks are still written, and failures reported. A forked child also has
    # its parent's clients, which it must not close.
    for client, process in list(_open_clients.items()):
        try:
            if process == os.getpid() and not client.closed:
                client.close()
        except Error as error:
            for one in (error, *error.others):
                print(f"tailrace: while closing at exit: {one}", file=sys.stderr)
