"""Recognises a file given to `tailrace plot` or `report` by its content: a result, a trace, statistics, or write
times.

`tailrace.bench.result` reads and checks results; this only chooses the reader of a file.
"""

from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass
from typing import Any

from tailrace import files, iterations
from tailrace.bench import result as result_file

from . import busy, jitter, requests, schedulers, sizes, trace, write_times
from .fault import PictureError

EXPECTED = ("a result file (of `tailrace bench pattern --json` or `make bench-peers`), a trace or statistics of "
            "tailrace, or write times "
            f"of processes (CSV or JSON with {write_times.EXPECTED})")
# Our other documents that may be given by mistake, and their descriptions.
_OTHERS = {"pattern_run": "what the pattern program says of one run", "pattern_measure": "one measurement",
           "pattern_calibrate": "one measurement",
           "timeline": "what the tsunami of `tailrace demo` says of one run (its trace is in the folder tailrace)"}


@dataclass(frozen=True)
class Source:
    """One file. `data` is a result's or a study's dictionary, a trace's document, a busy.Run, or a list of
    write_times.Run; `study` is the study of jitter to which write times belong, if any."""

    path: pathlib.Path
    kind: str  # "result", "trace", "statistics", "times", "requests", "schedulers"
    data: Any
    study: jitter.Study | None = None

    @property
    def quick(self) -> bool:
        """Returns True if it comes from a quick run, which measures nothing."""
        document = self.study or self.data
        if self.kind == "trace":
            document = document.get("otherData")
        return isinstance(document, dict) and document.get("quick") is True


def read(path: pathlib.Path) -> Source:
    """Reads and checks one file."""
    text = _text(path)
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        return Source(path, "times", write_times.from_csv(path, text))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PictureError(*_not_json(path, text, error)) from None
    if trace.is_trace(document):
        return Source(path, "trace", document)
    if isinstance(document, list) or (isinstance(document, dict) and "write_times" in document):
        study = jitter.check(path, document) if jitter.is_study(document) else None
        return Source(path, "times", write_times.from_json(path, document), study)
    if isinstance(document, dict) and "tailrace_stats" in document:
        return Source(path, "statistics", _statistics(path, document))
    if isinstance(document, dict) and "tailrace_small" in document:
        return Source(path, "requests", requests.check(path, document))
    if isinstance(document, dict) and "tailrace_schedulers" in document:
        return Source(path, "schedulers", schedulers.check(path, document))
    if isinstance(document, dict) and "tailrace_result" in document:
        return Source(path, "result", _result(path, document))
    other = next((words for key, words in _OTHERS.items() if isinstance(document, dict) and key in document), None)
    raise PictureError(path, f"{other or 'something else'}, with nothing to draw; expected {EXPECTED}")


def _statistics(path: pathlib.Path, document: dict[str, Any]) -> busy.Run:
    """Reads the iterations and files of statistics, if there is something to draw."""
    if document["tailrace_stats"] != 1:
        raise PictureError(path, f"tailrace_stats: found version {document['tailrace_stats']!r}, expected 1")
    try:
        found = iterations.read(document.get("iterations"))
        of_files = files.read(document.get("files", []))  # an earlier tailrace does not report them
    except (iterations.Malformed, files.Malformed) as error:
        raise PictureError(path, str(error)) from None
    name = f"{document.get('name')}, client {document.get('client')}"
    run = busy.Run(name, iterations.whose(str(document.get("description"))), found, of_files)
    if not run.passed and all(one.kind == "iterations" for one in sizes.shown(of_files)):
        raise PictureError(path, f"iterations: found {len(found)}, of which none was followed by another; expected "
                                 "two at least")
    return run


def _result(path: pathlib.Path, document: dict[str, Any]) -> dict[str, Any]:
    """Checks that it is valid, and has no zero divisors."""
    try:
        result_file.validate(document, str(path))
    except result_file.ResultError as error:
        raise PictureError(*str(error).split(": ", 1)) from None
    for number, point in enumerate(document["points"]):
        for key in ("compute_seconds", "write_seconds", "limit_seconds"):
            if point[key] <= 0:
                raise PictureError(path, f"points[{number}].{key}: found {point[key]}, expected more than 0 s")
    for key in ("statistics", "measured"):
        if not isinstance(document.get(key) or {}, dict):
            raise PictureError(path, f"{key}: found {document[key]!r}, expected an object")
    return document


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PictureError(path, f"no text at byte {error.start}; expected {EXPECTED}") from None
    except OSError as error:
        raise PictureError(path, f"{error.strerror}; expected {EXPECTED}") from None


def _not_json(path: pathlib.Path, text: str, error: Exception) -> tuple[str, str]:
    if not text.strip():
        return str(path), f"the file is empty; expected {EXPECTED}"
    if not isinstance(error, json.JSONDecodeError):
        return str(path), f"not JSON as anybody writes it ({error}); expected {EXPECTED}"
    where = f"{path}:{error.lineno}:{error.colno}"
    if text.lstrip()[0] in "{[" and (error.pos >= len(text.rstrip()) or "Unterminated" in error.msg):
        return where, "the file ends in the middle of its JSON: it is truncated; expected the rest"
    return where, f"not JSON ({error.msg}); expected {EXPECTED}; CSV is known by its name (.csv)"
