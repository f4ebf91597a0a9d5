"""`tailrace join --to`: puts striped files together, each into one plain file.

Reads the objects of a striped file (tailrace/striped.py), which stay as they are. A plain file gets its name when it
is whole. Holes stay holes.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence

from tailrace import own_file, striped

from . import output, progress

_PIECE = 1 << 20  # bytes that are read at once


def run(source: pathlib.Path, to: pathlib.Path, directories: Sequence[pathlib.Path]) -> int:
    """Puts the striped file, or all of a directory, together; returns the exit code."""
    try:
        files = striped_files(source) if source.is_dir() else [source]
        if not files:
            raise striped.Malformed(f"{source}: found no striped files, expected some")
        if source.is_dir():
            to.mkdir(parents=True, exist_ok=True)
    except (striped.Malformed, OSError) as why:
        output.complain(str(why))
        return 1
    made, complaints = [], []
    for file in progress.over(files, "joining files"):
        target = to / file.name if to.is_dir() else to
        try:
            made.append(f"{target}: {output.size(assemble(file, target, directories))} of {file}")
        except (striped.Malformed, OSError) as why:
            complaints.append(str(why))
    for line in made:
        print(line)
    for complaint in complaints:
        output.complain(complaint)
    return 1 if complaints else 0


def striped_files(directory: pathlib.Path) -> list[pathlib.Path]:
    """Returns the striped files in a directory, without unfinished ones. Raises Malformed, OSError."""
    return [path for path in sorted(directory.iterdir())
            if path.is_file() and not path.name.endswith(".part") and not striped.is_object_name(path.name) and
            (head := striped.head_of(path)) is not None and head.index == 0]


def assemble(file: pathlib.Path, target: pathlib.Path, directories: Sequence[pathlib.Path] = ()) -> int:
    """Makes the plain file `target` of a striped one; returns its size. Raises Malformed, OSError."""
    if target.exists():
        raise striped.Malformed(f"{target}: found a file, expected none")
    temporary = own_file.unfinished(target)
    with striped.StripedFile(file, directories) as source:
        out = own_file.make(temporary)
        try:
            _copy(source, out)
            os.replace(temporary, target)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(out)
        return source.size


def _copy(source: striped.StripedFile, out: int) -> None:
    os.truncate(out, source.size)
    while piece := source.read(_PIECE):
        if piece.count(0) == len(piece):
            continue
        begin = source.tell() - len(piece)
        done = 0
        while done < len(piece):
            done += os.pwrite(out, piece[done:], begin + done)
