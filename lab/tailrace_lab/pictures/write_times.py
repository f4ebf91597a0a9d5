"""Reads write times of processes, from which tiles are drawn: CSV or JSON with run, process, seconds, bytes and, if
there are several, experiment.

Any program may have measured them: a row is the time that one process needed for its data in one run. Errors name
line and column.
"""

from __future__ import annotations

import csv
import io
import math
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tailrace.pictures.fault import PictureError
from tailrace.quantity import counted

COLUMNS = ("run", "process", "seconds", "bytes")
OPTIONAL = "experiment"
EXPECTED = "run, process, seconds, bytes and, if there are several, experiment"


@dataclass
class Run:
    """One output phase of an application: the times of its processes."""

    experiment: str
    name: str
    seconds: list[float] = field(default_factory=list)
    bytes: float = 0.0

    @property
    def slowest(self) -> float:
        """Returns when the phase was over."""
        return max(self.seconds)

    @property
    def throughput(self) -> float:
        """Returns all bytes divided by the time of the slowest process, B/s."""
        return self.bytes / self.slowest

    @property
    def wasted(self) -> float:
        """Returns the share of all processes' time that they waited for the slowest: the white of a tile."""
        return 1 - sum(self.seconds) / (len(self.seconds) * self.slowest)


Row = tuple[str, dict[str, Any]]  # its place, and its columns


def from_csv(path: pathlib.Path, text: str) -> list[Run]:
    """Reads columns separated by comma, semicolon or tab, in any order; lines that begin with # are comments."""
    return _runs(path, _csv_rows(path, text))


def from_json(path: pathlib.Path, document: Any) -> list[Run]:
    """Reads a list of objects with the columns as keys, or an object with that list as "write_times"."""
    rows = document.get("write_times") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise PictureError(path, f'"write_times" is not a list; expected a list of objects with {EXPECTED}')
    return _runs(path, _json_rows(path, rows))


def _csv_rows(path: pathlib.Path, text: str) -> Iterator[Row]:
    lines = [(number, line) for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1)
             if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise PictureError(path, f"no line in it; expected a first line with the columns {EXPECTED}")
    first, header = lines[0]
    delimiter = max(",;\t", key=header.count)
    names = [name.strip().lower() for name in _cells(header, delimiter)]
    for name in COLUMNS:
        if name not in names:
            raise PictureError(f"{path}:{first}", f'no column "{name}" in "{header.strip()}"; expected {EXPECTED}')
    for number, line in lines[1:]:
        cells = _cells(line, delimiter)
        if len(cells) != len(names):
            raise PictureError(f"{path}:{number}",
                               f"{counted(len(cells), 'column')}; expected {len(names)}, as in line {first}")
        yield f"{path}:{number}", dict(zip(names, cells))


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader(io.StringIO(line), delimiter=delimiter))]


def _json_rows(path: pathlib.Path, rows: list[Any]) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        where = f"{path}: row {number}"
        if not isinstance(row, dict):
            raise PictureError(where, f"not an object; expected one with {EXPECTED}")
        for name in COLUMNS:
            if name not in row:
                raise PictureError(where, f'no "{name}"; expected {EXPECTED}')
        yield where, row


def _runs(path: pathlib.Path, rows: Iterable[Row]) -> list[Run]:
    runs: dict[tuple[str, str], Run] = {}
    seen: dict[tuple[str, str, str], str] = {}
    for where, row in rows:
        experiment, name = str(row.get(OPTIONAL) or ""), str(row["run"])
        process = (experiment, name, str(row["process"]))
        if process in seen:
            raise PictureError(where, f'column "process": process {process[2]} of run {name} stands at '
                                      f'{seen[process]} '
                                      "already; expected one row for each process of a run")
        seen[process] = where
        run = runs.setdefault((experiment, name), Run(experiment, name))
        run.seconds.append(_number(where, "seconds", row["seconds"], "s"))
        run.bytes += _number(where, "bytes", row["bytes"], "B")
    if not runs:
        raise PictureError(path, "no row in it; expected one for each process of each run")
    for run in runs.values():
        if run.slowest <= 0:
            raise PictureError(path, f'column "seconds": all processes of run {run.name} took no time; expected one '
                                     "above 0 s at least")
    return list(runs.values())


_MOST = 1e200  # largest number, so that sums are finite, too


def _number(where: str, column: str, found: Any, unit: str) -> float:
    try:
        number = float(found) if not isinstance(found, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= _MOST:
        raise PictureError(where, f'column "{column}": found "{found}", expected a number of {unit}, 0 or more')
    return number
