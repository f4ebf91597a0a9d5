"""What a killed program of OpenFOAM has left in its case: time directories that are not complete.

tailrace makes a time directory as `NAME.partial`. In a decomposed case each process gives its part the name by
itself, so the latest times may lack a part; OpenFOAM cannot start from these.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
from collections.abc import Iterator

import tailrace

INCOMPLETE = "incomplete time"
_PARTIAL = ".partial"
_TIME = re.compile(r"[0-9][0-9.e+-]*")


def is_case(directory: pathlib.Path) -> bool:
    """Returns true if this is a case of OpenFOAM."""
    return (directory / "system/controlDict").is_file()


def leavings(case: pathlib.Path, apply: bool) -> list[tailrace.Leftover]:
    """Returns the time directories that are not complete, latest first, and removes them if `apply`."""
    found = []
    processors = sorted(path for path in case.glob("processor[0-9]*") if path.is_dir())
    with _alone([case, *processors]) as alone:
        for path in [*_partial(case), *(path for each in processors for path in _partial(each)),
                     *_without_all_parts(processors)]:
            found.append(_deal_with(path, case, apply, alone))
    return found


def _deal_with(path: pathlib.Path, case: pathlib.Path, apply: bool, alone: bool) -> tailrace.Leftover:
    name = str(path.relative_to(case))
    if not alone:
        return tailrace.Leftover(file=name, kind="in use", done=False, status="ok",
                                 message="left alone: a program is writing to the case")
    if not apply:
        return tailrace.Leftover(file=name, kind=INCOMPLETE, done=False, status="ok", message="")
    try:
        shutil.rmtree(path)
    except OSError as why:
        return tailrace.Leftover(file=name, kind=INCOMPLETE, done=False, status="failed", message=str(why))
    return tailrace.Leftover(file=name, kind=INCOMPLETE, done=True, status="ok", message="")


def _partial(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.glob(f"*{_PARTIAL}")
                  if path.is_dir() and _TIME.fullmatch(path.name.removesuffix(_PARTIAL)))


def _times(folder: pathlib.Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir() and _TIME.fullmatch(path.name)}


def _without_all_parts(processors: list[pathlib.Path]) -> list[pathlib.Path]:
    """Returns the parts of times that come after the latest time of which all parts are there. If there is no such
    time, the folders differ for another reason than a killed program, and nothing is returned."""
    times = [_times(folder) for folder in processors]
    if not times:
        return []
    complete = [float(name) for name in set.intersection(*times)]
    if not complete:
        return []
    latest = max(complete)
    return sorted(folder / name for folder, names in zip(processors, times) for name in names
                  if float(name) > latest)


@contextlib.contextmanager
def _alone(folders: list[pathlib.Path]) -> Iterator[bool]:
    """Yields true if no program is writing times to any of the folders; none can begin to meanwhile. A program that
    does has a shared lock on its folder."""
    with contextlib.ExitStack() as stack:
        alone = True
        for folder in folders:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                alone = False
        yield alone
