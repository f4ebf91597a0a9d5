"""tailrace: carries a program's output to storage while the program computes on.

    import tailrace

    with tailrace.open("sim.yaml") as out:
        for step in range(steps):
            out.write("temperature", step, temperature)
            out.end_iteration(step)
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

from . import _html, _logs, _signatures, _tailrace, opening, ranks
from ._errors import (Closed, Dropped, Error, Exists, InvalidArgument, InvalidConfig, IoError, NotFound, OutOfMemory,
                      ServerLost, TimedOut, TooLarge, UnknownVariable, WrongShape, WrongType)
from ._mistake import Mistake
from ._stats import FileStats, Sizes, Times, VariableStats
from ._tailrace import Client, File, Status, Ticket
from .opening import Variable
from .reading import read

__all__ = ["Client", "Closed", "Dropped", "Error", "Exists", "File", "FileStats", "InvalidArgument", "InvalidConfig",
           "IoError", "Leftover", "Mistake", "NotFound", "OutOfMemory", "ServerLost", "Sizes", "Status", "Ticket",
           "TimedOut", "Times", "TooLarge", "UnknownVariable", "Variable", "VariableStats", "WrongShape", "WrongType",
           "__version__", "check", "mistakes", "open", "read", "recover"]

for _class in (Client, File, Ticket):
    _signatures.show(_class)


def __dir__() -> list[str]:
    return __all__


__version__: str = _tailrace.version()

_Path = Union[str, "os.PathLike[str]"]
_Config = Union[_Path, Mapping[str, Any]]


def open(config: _Config | None = None, client: int | None = None, *, parameters: Mapping[str, float] | None = None,
         path: _Path | None = None, text: str | None = None, comm: Any = None, name: str | None = None,
         variables: Mapping[str, Any] | None = None, place: str | Mapping[str, Any] | None = None,
         budget: str | int | None = None, when_full: str | None = None, existing: str | None = None,
         durability: str | None = None, file_per: str | None = None,
         iterations_per_file: int | str | None = None, dt: float | None = None, log_level: str | None = None,
         logger: bool | str | logging.Logger | None = None) -> Client:
    """Opens client ``client`` (0 or more, by default 0; usually the MPI rank).

    ``config`` is a configuration file, or a dictionary with the same keys. Without a file, keywords set keys:
    ``variables`` (from names to example arrays or ``tailrace.Variable``), ``name`` (by default "run"), ``place``,
    ``budget``, ``when_full``, ``existing``, ``durability``, ``file_per``, ``iterations_per_file``, ``dt`` and
    ``log_level``; ``logger`` (True, a name, or a ``logging.Logger``) gets what is logged. With a file they raise
    TypeError, and so does a key that the dictionary has, too.

    ``parameters`` replace or extend ``parameters:``, and ``path`` replaces ``storage.path``. ``text``, if given, is
    the YAML itself, and ``config`` only its name in messages. ``comm`` is a communicator of mpi4py: the client is the
    rank, the configuration gets the parameters rank, size, local_rank, local_size, node and nodes, and the call is
    collective. Without a file, the ranks of a node are then the clients of its server. Raises ``tailrace.Error``.
    """
    keywords = {"name": name, "variables": variables, "place": place, "budget": budget, "when_full": when_full,
                "existing": existing, "durability": durability, "file_per": file_per,
                "iterations_per_file": iterations_per_file, "dt": dt, "log_level": log_level}
    asked = _Asked(config, text, keywords, parameters or {}, path, logger)
    if comm is None:
        return asked.open(client or 0)
    if client is not None:
        raise TypeError("open: found client and comm, expected one of both: with comm, the client is the rank")
    where = ranks.where(comm)
    with ranks.together(comm):
        return asked.open(where.rank, where.parameters())


@dataclass(frozen=True)
class _Asked:
    """The arguments of ``open`` but the client."""

    config: _Config | None
    text: str | None
    keywords: Mapping[str, Any]
    parameters: Mapping[str, float]
    path: _Path | None
    logger: bool | str | logging.Logger | None

    def open(self, client: int, where: Mapping[str, float] | None = None) -> Client:
        """Opens it. ``where`` has the parameters of a rank."""
        reader = _logs.reader(self.logger)
        if reader is None:
            return self._open(client, where, None)
        try:
            opened = self._open(client, where, reader.path)
        except BaseException:
            reader.end()
            raise
        reader.follow(opened)
        return opened

    def _open(self, client: int, where: Mapping[str, float] | None, log: str | None) -> Client:
        file, made = opening.source(self.config, self.text, {**self.keywords, "logger": log}, where is not None)
        parameters = {**(where or {}), **self.parameters}
        opened = _tailrace.open(file, client, list(parameters.items()), _optional(self.path), made)
        _open_clients[opened] = os.getpid()
        return opened


def check(config: _Config, client: int = 0, *, parameters: Mapping[str, float] | None = None,
          path: _Path | None = None, text: str | None = None, flush_waits: bool = False) -> None:
    """Checks the whole configuration (a file or a dictionary), as ``open`` would, without opening anything. Raises
    ``tailrace.Error``, whose message has the first mistake and how many more there are.

    With ``flush_waits``, also rejects a configuration with which ``flush`` waits for nothing (``storage.durability:
    accepted``).
    """
    _tailrace.check(*_to_check(config, client, parameters, path, text), flush_waits)


def mistakes(config: _Config, client: int = 0, *, parameters: Mapping[str, float] | None = None,
             path: _Path | None = None, text: str | None = None, flush_waits: bool = False) -> list[Mistake]:
    """Checks like ``check``, and returns all mistakes (at most 100) in the order of the file; none if it is right.

    It leaves out what is wrong only because of another mistake. Raises ``tailrace.Error`` if the file cannot be read.
    """
    found = _tailrace.mistakes(*_to_check(config, client, parameters, path, text), flush_waits)
    return _html.Listed(Mistake(*parts) for parts in found)


def _to_check(config: _Config, client: int, parameters: Mapping[str, float] | None, path: _Path | None,
              text: str | None) -> tuple[str, list[tuple[str, float]], str | None, str | None]:
    # In a configuration, the client is the parameter of that name.
    given = {"client": client, **(parameters or {})}
    file, made = opening.source(config, text, {})
    return file, list(given.items()), _optional(path), made


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
    return _html.Listed(Leftover(file, _KINDS.get(kind, str(kind)), done, status, message)
                        for file, kind, done, status, message in found)


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
    _logs.end_all()
