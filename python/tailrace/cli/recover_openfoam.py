"""What a killed program of OpenFOAM has left in its case: times and files that are not complete.

tailrace makes a time directory as `NAME.partial`, and so a file of a time that has its name. In a decomposed case
each process gives its part the name by itself, so the latest times may lack a part; OpenFOAM cannot start from these.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import pathlib
import re
import shutil
import sys
from collections.abc import Iterator

import tailrace

INCOMPLETE = "incomplete time"
INCOMPLETE_FILE = "incomplete file"
SINGLE_PART = "part of a time"
_PARTIAL = ".partial"
# OpenFOAM takes every directory for a time whose name is a number, and gives times such names as these.
_TIME = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?")
_PROCESSOR = re.compile(r"processor(0|[1-9][0-9]*)")


def is_case(directory: pathlib.Path) -> bool:
    """Returns true if this is a case of OpenFOAM."""
    return (directory / "system/controlDict").is_file()


def leavings(case: pathlib.Path, apply: bool) -> list[tailrace.Leftover]:
    """Returns the times and files that are not complete, and removes them if `apply`. Returns also parts of times
    that other folders lack for a reason that they do not show; these are left alone."""
    processors = _processors(case)
    with _alone([case, *processors]) as alone:
        partial = {folder: _partial(folder) for folder in [case, *processors]}
        lonely = list(_lonely(processors))
        parts = dict(_parts_of_unfinished(processors, partial))
        found = [_deal_with(folder / (name + _PARTIAL), case, apply, alone)
                 for folder, names in partial.items() for name in sorted(names)]
        found += [_deal_with(part, case, apply, alone, unfinished) for part, unfinished in parts.items()]
        found += [_deal_with(file, case, apply, alone) for folder in partial for file in _partial_files(folder)]
        return found + [_leave(path, case, lacking) for path, lacking in lonely if path not in parts]


def _deal_with(path: pathlib.Path, case: pathlib.Path, apply: bool, alone: bool,
               unfinished: str = "") -> tailrace.Leftover:
    name = str(path.relative_to(case))
    if not alone:
        return tailrace.Leftover(file=name, kind="in use", done=False, status="ok",
                                 message="left alone: a program is writing to the case")
    kind = INCOMPLETE if path.is_dir() else INCOMPLETE_FILE
    if not apply:
        return tailrace.Leftover(file=name, kind=kind, done=False, status="ok", message="")
    try:
        if kind == INCOMPLETE:
            shutil.rmtree(_without_name(path, unfinished) if unfinished else path)
        else:
            path.unlink()
    except OSError as why:
        return tailrace.Leftover(file=name, kind=kind, done=False, status="failed", message=str(why))
    return tailrace.Leftover(file=name, kind=kind, done=True, status="ok", message="")


def _without_name(part: pathlib.Path, unfinished: str) -> pathlib.Path:
    """Takes the name from a part of a time that is going to be removed: half of it must not look like a time."""
    print(f"{part}: is removed, as {unfinished} has not completed this time", file=sys.stderr)
    return part.rename(part.with_name(part.name + _PARTIAL))


def _leave(path: pathlib.Path, case: pathlib.Path, lacking: str) -> tailrace.Leftover:
    return tailrace.Leftover(file=str(path.relative_to(case)), kind=SINGLE_PART, done=False, status="ok",
                             message=f"left alone: {lacking} lacks this time")


def _processors(case: pathlib.Path) -> list[pathlib.Path]:
    """Returns the folders of the processes: processor0, processor1, … up to the first that is missing."""
    found = {int(match[1]): path for path in case.iterdir()
             if (match := _PROCESSOR.fullmatch(path.name)) and path.is_dir()}
    return [found[number] for number in itertools.takewhile(found.__contains__, itertools.count())]


def _times(folder: pathlib.Path) -> set[str]:
    return {path.name for path in folder.iterdir() if _TIME.fullmatch(path.name) and path.is_dir()}


def _partial(folder: pathlib.Path) -> set[str]:
    return {path.name.removesuffix(_PARTIAL) for path in folder.iterdir()
            if path.name.endswith(_PARTIAL) and _TIME.fullmatch(path.name.removesuffix(_PARTIAL)) and path.is_dir()}


def _partial_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Returns the unfinished files of the times that have their names."""
    return sorted(path for name in _times(folder) for path in (folder / name).rglob(f"*{_PARTIAL}")
                  if path.is_file() and not path.is_symlink())


def _parts_of_unfinished(processors: list[pathlib.Path],
                         partial: dict[pathlib.Path, set[str]]) -> Iterator[tuple[pathlib.Path, str]]:
    """Returns the parts of times that another process had not completed, each with the name of its folder."""
    unfinished = {name: folder.name for folder in processors for name in partial[folder] - _times(folder)}
    for folder in processors:
        for name in sorted(unfinished.keys() & _times(folder)):
            yield folder / name, unfinished[name]


def _lonely(processors: list[pathlib.Path]) -> Iterator[tuple[pathlib.Path, str]]:
    """Returns the parts of times behind the latest time of which all parts are there, each with the name of a folder
    that lacks the time. If there is no such latest time, the folders are not those of one run."""
    times = {folder: _times(folder) for folder in processors}
    complete = [float(name) for name in set.intersection(*times.values())] if times else []
    for folder, names in times.items() if complete else ():
        for name in sorted(names, key=float):
            if float(name) > max(complete):
                yield folder / name, next(each.name for each in processors if name not in times[each])


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
