"""Striped files: reads files that lie in stripes over several directories (docs/formats/striped.md), and checks them.

Each directory has an object of the file. The first object has the file's name; its head says where the others are.
Objects of different files, or of other sizes, are never put together: such files are refused. Never writes into an
object.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

# magic, version, bytes of the head, unit, count, index, first, zero, id, checksum, directories
_HEAD = struct.Struct("<8sIIQIIII40sQ4008s")
_MAGIC = b"trStripe"
_VERSION = 1
_CHECKSUM = slice(80, 88)
_ID = re.compile(r"[0-9a-f-]{1,36}")
_OBJECT = re.compile(r"(?P<id>[0-9a-f-]{1,36})\.object(?P<index>\d+)")
_LEAST_UNIT, _MOST_UNIT, _MOST_OBJECTS = 4096, 1 << 30, 64
HEAD_BYTES = _HEAD.size


class Malformed(ValueError):
    """A fault of a striped file: which object, what was found, what was expected."""


@dataclass(frozen=True)
class Head:
    """The head of an object: to which file it belongs, and where the stripes are."""

    unit: int  # bytes of a stripe
    count: int  # objects of the file
    index: int  # of this object
    first: int  # index of the object with the first stripe
    id: str
    directories: tuple[str, ...]  # of all objects, where they were when the file was made

    def size_of(self, offset: int) -> int:
        """Returns the bytes of this object, without its head, of a file of `offset` bytes."""
        rows, rest = divmod(offset, self.unit * self.count)
        begin = (self.index - self.first) % self.count * self.unit
        return rows * self.unit + min(max(rest - begin, 0), self.unit)

    def least_size(self, size: int) -> int:
        """Returns the least size of a file whose object, this one, has `size` bytes without its head."""
        if size <= 0:
            return 0
        row, rest = divmod(size - 1, self.unit)
        return (row * self.count + (self.index - self.first) % self.count) * self.unit + rest + 1

    def name_of(self, index: int) -> str:
        """Returns the name of an object other than the first."""
        return f"{self.id}.object{index}"


def head_of(path: pathlib.Path) -> Head | None:
    """Reads the head of a file; returns None if it is no object. Raises Malformed, OSError."""
    with open(path, "rb") as file:
        return _decode(file.read(HEAD_BYTES), path)


def _decode(content: bytes, path: pathlib.Path) -> Head | None:
    if len(content) < HEAD_BYTES or not content.startswith(_MAGIC):
        return None
    _, version, size, unit, count, index, first, _, name, checksum, directories = _HEAD.unpack(content)
    blank = bytearray(content)
    blank[_CHECKSUM] = bytes(8)
    head = Head(unit, count, index, first, name.split(b"\0")[0].decode("ascii", "replace"),
                tuple(os.fsdecode(one) for one in directories.split(b"\0")[:count]))
    fault = None
    if checksum != _fnv1a(blank):
        fault = "a checksum that does not fit"
    elif (version, size) != (_VERSION, HEAD_BYTES):
        fault = f"version {version} and {size} bytes"
    elif not (_LEAST_UNIT <= unit <= _MOST_UNIT and unit % _LEAST_UNIT == 0 and 1 <= count <= _MOST_OBJECTS and
              max(index, first) < count and _ID.fullmatch(head.id) and len(head.directories) == count):
        fault = "impossible numbers"
    if fault:
        raise Malformed(f"{path}: begins like an object of a striped file, but found {fault}; expected a complete "
                        f"head of version {_VERSION}")
    return head


def _fnv1a(content: bytes | bytearray) -> int:
    total = 0xcbf29ce484222325
    for byte in content:
        total = (total ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return total


class StripedFile(io.RawIOBase):
    """A striped file, to read; a file object for h5py and others. Holes read as zeros."""

    def __init__(self, path: pathlib.Path, directories: Sequence[pathlib.Path] = ()) -> None:
        """Opens all objects of the file. `directories`: where else they may be. Raises Malformed, OSError."""
        super().__init__()
        self.path = path
        self._at = 0
        head = head_of(path)
        if head is None:
            raise Malformed(f"{path}: found no head of an object, expected the first object of a striped file")
        if head.index != 0:
            raise Malformed(f"{path}: found object {head.index} of a striped file, expected its object 0, which has "
                            f"the file's name, in {head.directories[0]}")
        self.head = head
        self.objects = [path] + [_find(path, head, index, directories) for index in range(1, head.count)]
        with contextlib.ExitStack() as stack:
            self._files = [stack.enter_context(open(one, "rb", buffering=0)) for one in self.objects]
            self._stack = stack.pop_all()
        self.size = max(replace(head, index=index).least_size(os.fstat(file.fileno()).st_size - HEAD_BYTES)
                        for index, file in enumerate(self._files))

    def close(self) -> None:
        """Closes all objects."""
        if hasattr(self, "_stack"):  # else opening them has failed
            self._stack.close()
        super().close()

    def readable(self) -> bool:
        """Returns True."""
        return True

    def seekable(self) -> bool:
        """Returns True."""
        return True

    def tell(self) -> int:
        """Returns the position."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Moves the position, and returns it."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Reads at the position; returns fewer bytes than wanted only at the end of the file."""
        view = memoryview(buffer).cast("B")
        count = min(len(view), max(self.size - self._at, 0))
        done = 0
        while done < count:
            stripe, begin = divmod(self._at + done, self.head.unit)
            piece = view[done:done + min(self.head.unit - begin, count - done)]
            index = (self.head.first + stripe) % self.head.count
            self._read_object(index, HEAD_BYTES + stripe // self.head.count * self.head.unit + begin, piece)
            done += len(piece)
        self._at += count
        return count

    def _read_object(self, index: int, offset: int, piece: memoryview) -> None:
        done = 0
        while done < len(piece):
            some = os.preadv(self._files[index].fileno(), [piece[done:]], offset + done)
            if some == 0:
                piece[done:] = bytes(len(piece) - done)  # a hole
                return
            done += some


def _find(path: pathlib.Path, head: Head, index: int, directories: Sequence[pathlib.Path]) -> pathlib.Path:
    """Returns the path of an object, after checking that it is the right one."""
    name = head.name_of(index)
    places = [directory / name for directory in (*directories, pathlib.Path(head.directories[index]))]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise Malformed(f"{path}: found no object {index} of this striped file, expected {places[-1]}, or {name} in "
                        "a directory that is given")
    other = head_of(found)
    if other is None or replace(other, directories=()) != replace(head, index=index, directories=()):
        what = f"object {other.index} of {other.count} of the file {other.id}" if other else "no object"
        raise Malformed(f"{found}: found {what}, expected object {index} of {head.count} of the file {head.id}")
    return found


def is_object_name(name: str) -> bool:
    """Returns True if only objects have such a name, not files."""
    return _OBJECT.fullmatch(name) is not None


@contextlib.contextmanager
def readable(path: pathlib.Path) -> Iterator[Any]:
    """Yields what to read a file by: its path, or a StripedFile if it is striped. Raises Malformed, OSError."""
    if head_of(path) is None:
        yield path
        return
    with StripedFile(path) as file:
        yield file
