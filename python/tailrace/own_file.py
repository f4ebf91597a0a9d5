"""Files under names that tailrace chooses itself, in directories where others may create files, too.

Like src/base/os/own_file.hpp, it never writes through a file, above all a link, that another user has put there.
"""

from __future__ import annotations

import errno
import os
import pathlib
import stat


def unfinished(file: pathlib.Path) -> pathlib.Path:
    """Returns the name that `join` gives a file until it is complete. A run may be writing a file of the same name
    now, which is called NAME.part until then."""
    return file.with_name(file.name + ".join.part")


def make(file: pathlib.Path) -> int:
    """Creates an empty file and returns its descriptor, which the caller closes; raises OSError. Removes a file of
    that name that an earlier run of this user has left; refuses any other."""
    try:
        found = file.lstat()
    except FileNotFoundError:
        pass
    else:
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "something"
            raise OSError(errno.EEXIST, f"found {kind} of user {found.st_uid}, expected nothing or a regular file of "
                                        f"user {os.geteuid()}", str(file))
        file.unlink()
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def write_whole(file: pathlib.Path, text: str, errors: str = "strict") -> None:
    """Writes the complete file or nothing, under its name with `.part` first; raises OSError."""
    part = file.with_name(file.name + ".part")
    with open(make(part), "w", encoding="utf-8", errors=errors) as out:
        try:
            out.write(text)
            out.flush()
            os.replace(part, file)
        except OSError:
            part.unlink(missing_ok=True)
            raise
