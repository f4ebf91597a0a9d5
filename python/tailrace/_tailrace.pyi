"""
The C interface of tailrace, as Python sees it. Use the package tailrace.
"""

from collections.abc import Generator, Sequence
import enum
import types
from typing import Any

import numpy.typing

import tailrace._stats
import tailrace._variables


class Status(enum.IntEnum):
    """The result of a call: the status codes of the C interface."""

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
        Waits until the array is written, at most `timeout` seconds (None: without limit).

        Returns False if it is not written by then: the array is still lent. Raises tailrace.Error if the
        write failed.
        """

    def test(self) -> bool:
        """
        Returns True if the array is written; does not wait. Raises tailrace.Error if the write failed.
        """

    def __await__(self) -> Generator[Any, None, bool]:
        """
        `await ticket` waits in asyncio, as wait does, and lets other tasks run.
        """

    def __repr__(self) -> str: ...

class File:
    """
    A raw file, in the program's own format. Client.open_file makes it; it is a context manager.

    One thread at a time may use it or its client. Closing the client closes it, too.
    """

    def write(self, data: Any, offset: int) -> None:
        """
        Writes a copy of all bytes of `data` (bytes, or a C-contiguous array) at `offset`.

        Returns at once; a later call reports a failure, as for all data that are handed over.
        """

    def write_list(self, data: Any, extents: numpy.typing.ArrayLike) -> None:
        """
        Writes pairs (offset, length), whose bytes lie side by side in `data` (list I/O).

        The pairs may be in any order, and must not overlap.
        """

    def read(self, out: Any, offset: int) -> Any:
        """
        Fills `out` with the bytes from `offset` on, and returns it. Sees all earlier writes of this client.
        """

    def read_list(self, out: Any, extents: numpy.typing.ArrayLike) -> Any:
        """
        Fills `out` with the bytes of pairs (offset, length), side by side, and returns it.
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
        Shortens or extends the file to `bytes` bytes; new bytes are 0. Takes effect after all earlier
        writes of this client.
        """

    def allocate(self, offset: int, bytes: int) -> None:
        """
        Reserves space for the bytes from `offset` on, so that their writes cannot fail for lack of it,
        and makes the file at least that long.
        """

    def close(self) -> None:
        """
        Waits for all operations on the file, and closes it. Then raises tailrace.Error if there are
        failures that no call has reported yet.
        """

    @property
    def closed(self) -> bool:
        """True if the file or its client was closed."""

    @property
    def path(self) -> str:
        """The path with which it was opened."""

    def __repr__(self) -> str: ...

    def __enter__(self) -> File: ...

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None, traceback: types.TracebackType | None) -> None: ...

class Client:
    """
    A client: one process (or thread) of the program. tailrace.open makes it; it is a context manager.

    One thread at a time may use it. A tailrace.Error with `earlier` true reports the loss of a block
    that was handed over before: the call that raised it was carried out and must not be repeated. The
    client belongs to the process that opened it: in a child of os.fork() each call raises
    tailrace.Error (FORKED), and leaving a `with` block does nothing.
    """

    def write(self, variable: str, iteration: int, array: Any, fill_value: Any = None) -> bool:
        """
        Hands over a copy of `array`, which may change as soon as this returns.

        `array` must be C-contiguous and of the declared type and shape; nothing is converted. An array in the
        memory of a device (CuPy, PyTorch, …) is copied by its own library. A masked array is refused unless
        `fill_value` replaces its masked elements. Returns False if `when_full: drop` has dropped the
        iteration.
        """

    def alloc(self, variable: str, iteration: int) -> numpy.typing.NDArray[Any]:
        """
        Returns a writable array in tailrace's memory, in which to build the block without a copy.

        Commit or close makes it read-only. It keeps its values while you keep it, or a view of it, and
        uses part of `memory.budget` until then: release arrays, or alloc raises tailrace.Error
        (BUDGET_HELD). A view that you made before commit (a slice, a memoryview) stays writable; values
        written through it after commit may reach the file of this block, and no other. A child of
        os.fork() has none of this memory. Raises tailrace.Dropped if `when_full: drop` has dropped the
        iteration. If it raises an error with `earlier` true, the array is the error's `array`.
        """

    def commit(self, variable: str, iteration: int) -> bool:
        """
        Hands over the array that alloc returned. Returns False if the iteration was dropped. If it raises an
        error with `earlier` false, the array is still yours.
        """

    def borrow(self, variable: str, iteration: int, array: Any, fill_value: Any = None) -> Ticket:
        """
        Lends `array`, without a copy: it must not change until the ticket has ended.

        A NumPy array is read-only until wait, test, await or close finds that; other arrays over the same
        memory, such as views of before, stay writable. Of an array in the memory of a device, or a masked
        one with `fill_value`, a copy is lent.
        The client keeps the array alive until then. Raises tailrace.Dropped if the iteration was dropped.
        """

    def end_iteration(self, iteration: int, time: float | None = None, dt: float | None = None) -> bool:
        """
        Ends `iteration`: no more blocks come for it, and its file is completed in the background.

        `time` is the iteration's time, and `dt` the time to the next one, in the unit of `time.unit`; without
        them the configuration gives both. Returns False if the iteration was dropped.
        """

    def attribute(self, iteration: int, name: str, value: Any, variable: str | None = None) -> bool:
        """
        Sets an attribute of `iteration`, or of the dataset of `variable` in it.

        `value` is a text, a number, or a sequence of either; a later call replaces it. Returns False if the
        iteration was dropped.
        """

    def signal(self, event: str, iteration: int) -> bool:
        """
        Records the event `event` of `iteration`. Returns False if the iteration was dropped.
        """

    def flush(self) -> None:
        """
        Waits until everything handed over has reached what `storage.durability` asks for.
        """

    def read(self, variable: str, iteration: int, out: numpy.typing.NDArray[Any] | None = None) -> numpy.typing.NDArray[Any]:
        """
        Reads a block that this client wrote, into `out` or a new array, and returns it.
        """

    def open_file(self, path: str, mode: str = 'write', immediate: bool = False) -> File:
        """
        Opens a raw file, relative to (the first) `storage.path` and below it.

        `mode`: "read" an existing file; "write": read and write, create it if needed, keep its contents;
        "truncate": read and write, and empty it first. Writes to an `immediate` file do not wait to be
        merged with later ones.
        """

    def last_iteration(self) -> int | None:
        """
        The last iteration that an earlier run has published, when the client was opened; None if there is
        none.

        Needs `storage.existing: continue`.
        """

    def last_time(self) -> float | None:
        """
        The time of that iteration, in `time.unit`, with which a program goes on; None if there is no such
        iteration, or if its file has no time.
        """

    def remove_file(self, path: str) -> None:
        """
        Removes a raw file. `path` is as in open_file; no client of the same server may have it open.
        """

    def stats(self) -> dict[str, int | float]:
        """
        The counters of this client so far: the members of tailrace_stats, by name.
        """

    def variable_stats(self, name: str) -> tailrace._stats.VariableStats:
        """
        The counters of one declared variable so far, and its times in seconds.
        """

    def file_stats(self, path: str | None = None) -> tailrace._stats.FileStats:
        """
        The counters of the requests for one raw file, given by the path with which it was opened.

        Without a path: of the files of all iterations together.
        """

    def describe(self) -> str:
        """One line of text that describes the writer and its resources."""

    def variable(self, name: str) -> tuple[str, tuple[int, ...], int]:
        """The declared dtype, shape and size in bytes of a variable."""

    @property
    def variables(self) -> tailrace._variables.Variables:
        """
        The declared variables: a mapping from names to their dtype, shape, nbytes, unit and description.
        """

    def __repr__(self) -> str: ...

    def close(self) -> None:
        """
        Waits until everything handed over has ended, and closes the client. Then raises tailrace.Error if
        there are failures that no call has reported yet: it is the first of them, and has the rest in
        `others`.
        """

    @property
    def closed(self) -> bool:
        """True if close was called."""

    @property
    def client(self) -> int:
        """The id with which it was opened."""

    def __enter__(self) -> Client: ...

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None, traceback: types.TracebackType | None) -> None: ...

    def set_parameters(self, **values: int | float) -> None:
        """
        Sets parameters of the configuration, all at once: `set_parameters(n=12, first=30)`.

        The shapes that name them change for the blocks of later calls: an array may have another length
        in each iteration, even 0. Spacings and origins of grids may name real numbers. If the call fails,
        nothing changes; but integers are set before real numbers.
        """

    def enable(self, variable: str, on: bool = True) -> None:
        """
        Switches a variable on or off. Blocks of a variable that is off are accepted and not written.
        """

def open(config: str, client: int, parameters: Sequence[tuple[str, int | float]], path: str | None, text: str | None) -> Client: ...

def check(config: str, parameters: Sequence[tuple[str, object]], path: str | None, text: str | None, flush_waits: bool) -> None: ...

def mistakes(config: str, parameters: Sequence[tuple[str, object]], path: str | None, text: str | None, flush_waits: bool) -> list[tuple[str, int, int, str, str, str, str]]: ...

def recover(directory: str, apply: bool) -> list[tuple[str, int, bool, str, str]]: ...

def version() -> str: ...
