"""`tailrace key`: makes the key that forwarders and their clients have in common, and shows a key's name.

docs/formats/key.md describes the file. The library reads it in src/transport/key/key_file.cpp, with the same
checks and messages. Messages never show what is in a file.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import os
import re
import secrets
import stat
from typing import Any

from tailrace.quantity import counted

from . import output

_COMMENT = ("# A key of tailrace. Forwarders and clients that have it trust each other: keep it secret, with mode "
            "0600.\n")
_BYTES = 32
_MOST_TEXT = 4096  # bytes of a key file
_EXPECTED = "expected 'tailrace-key-1', a space and 64 hexadecimal digits"


class _Refused(Exception):
    """A file is no key file, or others can use it: a complete message."""


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "key", help="make the key of forwarders and their clients",
        description="Forwarders and their clients authenticate each other with a shared key, in a file that only its "
                    "owner may read (`forward: {key: FILE}`).")
    verbs = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    new = verbs.add_parser("new", help="make a file with a new key",
                           description="Makes a file with a new key. Fails if the file exists: a key is never "
                                       "replaced.")
    new.add_argument("file", metavar="FILE", help="the file to make")
    new.set_defaults(run=run_new)
    show = verbs.add_parser("show", help="print the name of a key",
                            description="Prints the name of a key, which is public: two files hold the same key if "
                                        "their names are equal. Logs and error messages contain this name.")
    show.add_argument("file", metavar="FILE", help="the key file")
    show.set_defaults(run=run_show)


def run_new(arguments: argparse.Namespace) -> int:
    """Runs `key new`; returns the exit code."""
    file = _expanded(arguments.file)
    key = secrets.token_bytes(_BYTES)
    try:
        _make(file, key)
    except OSError as error:
        output.complain(f"create the key file '{file}': {os.strerror(error.errno)}")
        return 1
    print(f"{file}: made, the name of the key is {_name_of(key)}")
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    """Runs `key show`; returns the exit code."""
    file = _expanded(arguments.file)
    try:
        print(_name_of(_parse(_read(file), file)))
    except _Refused as refused:
        output.complain(str(refused))
        return 1
    except OSError as error:
        output.complain(f"open the key file '{file}': {os.strerror(error.errno)}")
        return 1
    return 0


def _expanded(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~/") else path


def _name_of(key: bytes) -> str:
    """Returns the key's name, "01ab-23cd-45ef-6789": the beginning of libsodium's crypto_kdf subkey 1."""
    digits = hashlib.blake2b(key=key, digest_size=32, salt=(1).to_bytes(8, "little"), person=b"tr.key.1").hexdigest()
    return "-".join(digits[i:i + 4] for i in range(0, 16, 4))


def _make(file: str, key: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii") as out:
            os.fchmod(descriptor, 0o600)  # whatever the umask is
            out.write(f"{_COMMENT}tailrace-key-1 {key.hex()}\n")
            out.flush()
            os.fsync(descriptor)
    except OSError:
        os.unlink(file)
        raise


def _read(file: str) -> bytes:
    """Returns the contents of a file that only this user can read or write."""
    try:
        # O_NONBLOCK: opening a FIFO must not wait.
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _Refused(f"'{file}' is a symbolic link; expected a key file") from None
        raise
    try:
        _check_private(os.fstat(descriptor), file)
        with open(descriptor, "rb", closefd=False) as opened:
            text = opened.read(_MOST_TEXT + 1)
    finally:
        os.close(descriptor)
    if len(text) > _MOST_TEXT:
        raise _Refused(f"'{file}' has more than {_MOST_TEXT} bytes; expected a key file")
    return text


def _check_private(info: os.stat_result, file: str) -> None:
    if not stat.S_ISREG(info.st_mode):
        kind = "a directory" if stat.S_ISDIR(info.st_mode) else "no regular file"
        raise _Refused(f"'{file}' is {kind}; expected a key file")
    if info.st_uid != os.geteuid():
        raise _Refused(f"'{file}' is a file of user {info.st_uid}; expected a key file of user {os.geteuid()}")
    if info.st_mode & 0o077:
        mode = stat.S_IMODE(info.st_mode)
        raise _Refused(f"'{file}' has mode {mode:04o}, so others may use the key; expected 0600: chmod 600 '{file}'")


def _parse(text: bytes, file: str) -> bytes:
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    key = None
    for number, line in enumerate(lines, 1):
        if not line or line.startswith(b"#"):
            continue
        if key is not None:
            raise _Refused(f"{file}:{number}: found more behind the key, expected one key")
        key = _parse_line(line, f"{file}:{number}")
    if key is None:
        raise _Refused(f"{file}:{len(lines) + 1}: found the end of the file, {_EXPECTED}")
    return key


def _parse_line(line: bytes, where: str) -> bytes:
    if not line.startswith(b"tailrace-key-"):
        raise _Refused(f"{where}: found no key, {_EXPECTED}")
    match = re.fullmatch(rb"tailrace-key-([0-9]{1,3}) (.*)", line, re.DOTALL)
    if not match:
        raise _Refused(f"{where}: found no version, {_EXPECTED}")
    version, digits = match.groups()
    if version != b"1":
        raise _Refused(f"{where}: found a key of version {version.decode()}, {_EXPECTED}")
    if len(digits) != 2 * _BYTES:
        raise _Refused(f"{where}: found {counted(len(digits), 'character')} as the key, {_EXPECTED}")
    if not re.fullmatch(rb"[0-9a-fA-F]*", digits):
        raise _Refused(f"{where}: found other characters than digits in the key, {_EXPECTED}")
    key = bytes.fromhex(digits.decode())
    if not any(key):
        raise _Refused(f"{where}: found a key of zeros, expected one that `tailrace key new` has made")
    return key
