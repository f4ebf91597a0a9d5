"""
The C interface of tailrace, as Python sees it. Use the package tailrace.
"""

from collections.abc import Sequence
import enum
import types
from typing import Any

import numpy.typing

import tailrace._stats


class Status(enum.IntEnum):
    """What a call has to say; the codes of the C interface."""

    OK = 0

    INVALID_ARGUMENT = 101

    INVALID_CONFIG = 102

    UNKNOWN_VARIABLE = 103

    WRONG_TYPE = 104

    WRONG_SHAPE = 105

    WRONG_ORDER = 106

    TOO_LARGE = 107

    BUDGET_HELD = 108

    NOT_FOUND = 109

    CLIENT_IN_USE = 110

    CLOSED = 111

    BUSY = 112

    UNSUPPORTED = 113

    EXISTS = 114

    FORKED = 115

    TIMEOUT = 201

    DROPPED = 202

    ACTION_FAILED = 203

    CLIENTS_MISSING = 204

    IO_ERROR = 301

    EARLIER_FAILURE = 302

    NOT_PUBLISHED = 303

    SERVER_LOST = 304

    OUT_OF_MEMORY = 401

    INTERNAL = 402

class Ticket:
    """A handle on one borrowed array; made by Client.borrow."""

    def wait(self, timeout: float | None = None) -> bool:
        """
        Waits until the array has been written, at most `timeout` seconds (None: for ever).

        False: not yet, the array is still lent. Raises tailrace.Error if it could not be written.
        """

    def test(self) -> bool:
        """
        Whether the array has been written, without waiting. Raises tailrace.Error if it could not be.
        """

class File:
    """
    A raw file, in the program's own format; made by Client.open_file, and a context manager.

    Used by one thread at a time with its client, which closes it, too.
    """

    def write(self, data: Any, offset: int) -> None:
        """
        Writes all bytes of `data` (bytes, or a C-contiguous array) at `offset`. A copy is taken.

        Returns at once; failures come later, as those of all that is handed over.
        """

    def write_list(self, data: Any, extents: numpy.typing.ArrayLike) -> None:
        """
        Writes pairs (offset, length), whose bytes are in `data`, one after the other (list I/O).

        They may come in any order, and must not overlap.
        """

    def read(self, out: Any, offset: int) -> Any:
        """
        Fills `out` with the bytes from `offset` on, and returns it. Sees all earlier writes of this client.
        """

    def read_list(self, out: Any, extents: numpy.typing.ArrayLike) -> Any:
        """
        Fills `out` with the bytes of pairs (offset, length), one after the other, and returns it.
        """

    def sync(self) -> None:
        """
        Waits until all earlier writes of this client to the file are on the device.
        """

    def size(self) -> int:
        """
        The length in bytes, after all earlier writes of this client to the file.
        """

    def truncate(self, bytes: int) -> None:
        """
        Cuts the file to `bytes`, or makes it that long: new bytes are 0. Takes effect after all earlier writes of
        this client.
        """

    def allocate(self, offset: int, bytes: int) -> None:
        """
        Reserves the bytes from `offset` on, so that writing them cannot fail for want of space, and makes the file
        at least that long.
        """

    def close(self) -> None:
        """
        Waits until they have ended, and closes. Raises tailrace.Error if something failed that no call has told
        yet; the file is closed all the same.
        """

    @property
    def closed(self) -> bool:
        """Whether it, or its client, has been closed."""

    @property
    def path(self) -> str:
        """As it was opened by."""

    def __enter__(self) -> File: ...

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None, traceback: types.TracebackType | None) -> None: ...

class Client:
    """
    One process (or thread) of the program; made by tailrace.open, and a context manager.

    One thread at a time may use it. A tailrace.Error with `earlier` true is about a block handed
    over before: the call that raised it has been carried out and must not be repeated. It belongs to
    the process that opened it: in a child of os.fork() each call raises tailrace.Error (FORKED), and
    leaving a `with` block does nothing.
    """

    def write(self, variable: str, iteration: int, array: numpy.typing.NDArray[Any]) -> bool:
        """
        Hands over a copy of `array`; it may be changed as soon as this returns.

        `array` is C-contiguous and of the declared type and shape; nothing is converted.
        False: `when_full: drop` has dropped the iteration.
        """

    def alloc(self, variable: str, iteration: int) -> numpy.typing.NDArray[Any]:
        """
        A writable array in tailrace's memory to build the block in, without a copy.

        From commit, or close, on it is read-only and keeps its values for as long as you keep it, or a view
        of it. It takes its part of `memory.budget` until then: let go of arrays, or alloc raises tailrace.Error
        (BUDGET_HELD). A view that you made before commit (a slice, a memoryview) stays writable; what is
        written through it then may be in the file of this block or not, and nowhere else. A child of os.fork()
        has none of this memory. Raises tailrace.Dropped if `when_full: drop` has dropped the iteration.
        """

    def commit(self, variable: str, iteration: int) -> bool:
        """
        Hands over the array that alloc returned. False: the iteration has been dropped.
        """

    def borrow(self, variable: str, iteration: int, array: numpy.typing.NDArray[Any]) -> Ticket:
        """
        Lends `array`, without a copy: leave it unchanged until the ticket has ended.

        The array is kept alive until then. Raises tailrace.Dropped if the iteration has been dropped.
        """

    def end_iteration(self, iteration: int) -> bool:
        """
        Says that nothing more comes for `iteration`: its file is completed in the background.

        False: the iteration has been dropped.
        """

    def signal(self, event: str, iteration: int) -> bool:
        """
        Records the event `event` of `iteration`. False: the iteration has been dropped.
        """

    def flush(self) -> None:
        """
        Waits until everything handed over has ended as `storage.durability` asks.
        """

    def read(self, variable: str, iteration: int, out: numpy.typing.NDArray[Any] | None = None) -> numpy.typing.NDArray[Any]:
        """
        Reads a block that this client wrote, into `out` or a new array, and returns it.
        """

    def open_file(self, path: str, mode: str = 'write', immediate: bool = False) -> File:
        """
        Opens a raw file, relative to (the first) `storage.path` and below it.

        `mode`: "read" one that is there; "write": read and write, made if it is not there, what is in it
        stays; "truncate": the same, and emptied. Writes of an `immediate` one do not gather to be merged with
        later ones.
        """

    def remove_file(self, path: str) -> None:
        """
        Removes a raw file, given as to open_file, that no client of the same server has open.
        """

    def stats(self) -> dict[str, int | float]:
        """
        What this client has done so far: the members of tailrace_stats, by name.
        """

    def variable_stats(self, name: str) -> tailrace._stats.VariableStats:
        """
        What this client has done so far with one declared variable: counts, and times in seconds.
        """

    def file_stats(self, path: str | None = None) -> tailrace._stats.FileStats:
        """
        What has become of requests for one raw file, by the path that it was opened by.

        Without a path: of the files of iterations, all together.
        """

    def describe(self) -> str:
        """What the writer is and got, as one line of text."""

    def variable(self, name: str) -> tuple[str, tuple[int, ...], int]:
        """The declared dtype, shape and size in bytes of a variable."""

    def close(self) -> None:
        """
        Waits until everything handed over has ended, and closes. Raises tailrace.Error if something failed that
        no call has told yet, with the other such failures in `others`; the client is closed all the same.
        """

    @property
    def closed(self) -> bool:
        """Whether close has been called."""

    @property
    def client(self) -> int:
        """The id that it was opened with."""

    def __enter__(self) -> Client: ...

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None, traceback: types.TracebackType | None) -> None: ...

    def set_parameters(self, **values: int) -> None:
        """
        Gives parameters of the configuration new values, all together: `set_parameters(n=12, first=30)`.

        The shapes that name them follow, for the blocks of the calls after: an array may have another length
        in each iteration, and 0 is one. What is refused changes nothing.
        """

    def enable(self, variable: str, on: bool = True) -> None:
        """
        Switches a variable on or off. Of one that is off, blocks are accepted and not written.
        """

def open(config: str, client: int, parameters: Sequence[tuple[str, int]], path: str | None, text: str | None) -> Client: ...

def check(config: str, parameters: Sequence[tuple[str, int]], path: str | None, text: str | None, flush_waits: bool) -> None: ...

def recover(directory: str, apply: bool) -> list[tuple[str, int, bool, str, str]]: ...

def version() -> str: ...
