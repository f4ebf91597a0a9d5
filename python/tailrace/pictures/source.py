"""Recognises a file given to `tailrace report` or `plot` by its content, and reads it.

The kinds of files are tailrace's own, and those of other packages: entry points of the group `tailrace.files`, each
of which is a sequence of kinds.
"""

from __future__ import annotations

import functools
import json
import pathlib
from dataclasses import dataclass
from typing import Any

from tailrace import lab

from . import own_kinds
from .fault import PictureError
from .kind import Kind

# Our other documents that may be given by mistake, and their descriptions.
_OTHERS = {"pattern_run": "what the pattern program says of one run", "pattern_measure": "one measurement",
           "pattern_calibrate": "one measurement",
           "timeline": "what the tsunami of `tailrace demo` says of one run (its trace is in the folder tailrace)"}


@dataclass(frozen=True)
class Source:
    """One file, and what was read from it."""

    path: pathlib.Path
    kind: Kind
    data: Any

    @property
    def quick(self) -> bool:
        """Returns True if it comes from a quick run, which measures nothing."""
        header = self.kind.header(self.data)
        return isinstance(header, dict) and header.get("quick") is True


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """Returns all kinds that are installed."""
    return (*own_kinds.KINDS, *(kind for added in lab.parts("tailrace.files").values() for kind in added.load()))


def expected() -> str:
    """Returns the kinds of files, for messages."""
    names = [kind.expected for kind in kinds()]
    missing = "" if lab.is_installed() else f" (results of benchmarks need {lab.installed_by()})"
    return f"{', '.join(names[:-1])} or {names[-1]}{missing}"


def read(path: pathlib.Path) -> Source:
    """Reads and checks one file."""
    text = _text(path)
    for kind in kinds():
        if path.suffix.lower() in kind.suffixes:
            return Source(path, kind, kind.read_text(path, text))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PictureError(*_not_json(path, text, error)) from None
    for kind in kinds():
        if kind.recognises(document):
            return Source(path, kind, kind.read(path, document))
    other = next((words for key, words in _OTHERS.items() if isinstance(document, dict) and key in document), None)
    raise PictureError(path, f"{other or _named(document)}, with nothing to draw; expected {expected()}")


def _named(document: Any) -> str:
    """Names a document by the member that says its kind and version, which is its first one in files of others."""
    if not isinstance(document, dict) or not document:
        return "something else"
    key = next((one for one in document if one.startswith("tailrace_")), next(iter(document)))
    version = document[key] if isinstance(document[key], (int, float, str)) else "…"
    return f"found {json.dumps({key: version})[1:-1][:60]}"


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PictureError(path, f"no text at byte {error.start}; expected {expected()}") from None
    except OSError as error:
        raise PictureError(path, f"{error.strerror}; expected {expected()}") from None


def _not_json(path: pathlib.Path, text: str, error: Exception) -> tuple[str, str]:
    if not text.strip():
        return str(path), f"the file is empty; expected {expected()}"
    if not isinstance(error, json.JSONDecodeError):
        return str(path), f"not JSON as anybody writes it ({error}); expected {expected()}"
    where = f"{path}:{error.lineno}:{error.colno}"
    if text.lstrip()[0] in "{[" and (error.pos >= len(text.rstrip()) or "Unterminated" in error.msg):
        return where, "the file ends in the middle of its JSON: it is truncated; expected the rest"
    by_name = [suffix for kind in kinds() for suffix in kind.suffixes][:1]
    known = "".join(f"; {suffix[1:].upper()} is known by its name ({suffix})" for suffix in by_name)
    return where, f"not JSON ({error.msg}); expected {expected()}{known}"
