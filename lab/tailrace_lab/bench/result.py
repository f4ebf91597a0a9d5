"""The result file of `tailrace bench pattern` and of `make bench-peers`: JSON, checked completely when it is read.

docs/formats/result.md has the format. A fault of a file is one error that names the file, the place in it, what was
found and what was expected. Unknown keys are kept and ignored, so that a later program may add some. It judges no
numbers.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tailrace import own_file

from . import steal

VERSION = 1
KINDS = ("pattern", "peers")
SUMMARY = ("median", "least", "most", "ci_low", "ci_high", "runs")
MODELS = ("model1", "model2", "model3", "sync", "model2_copy")

_FIT = ("seconds", "intercept", "r2", "dropped")
_FITS = ("write_regression", "write_saturation", "request", "copy")
_MORE_FITS = ("write_saturation_busy", "write_saturation_copy", "write_copy")  # may be missing
_POINT = ("c_over_w_asked", "compute_seconds", "write_seconds", "limit_seconds")
_Check = Callable[[Any, str], None]


class ResultError(Exception):
    """A fault of a result file; its text can always be printed."""

    def __init__(self, message: str) -> None:
        super().__init__(message.encode("utf-8", "backslashreplace").decode("utf-8"))


@dataclass(frozen=True)
class Result:
    """A result that has this format."""

    document: dict[str, Any]

    @property
    def kind(self) -> str:
        """Returns "pattern" or "peers"."""
        return str(self.document["kind"])

    @property
    def settings(self) -> dict[str, Any]:
        """Returns the settings of the runs."""
        return dict(self.document["settings"])

    @property
    def measured(self) -> dict[str, Any] | None:
        """Returns the measurements before the runs; a comparison of peers may have none."""
        return self.document.get("measured")

    @property
    def points(self) -> list[dict[str, Any]]:
        """Returns one point for each C/W."""
        return list(self.document["points"])

    @property
    def ablation(self) -> list[dict[str, Any]]:
        """Returns the rungs of the ablation; usually none."""
        return list(self.document.get("ablation", []))

    def save(self, file: pathlib.Path) -> None:
        """Writes the complete file or nothing; may raise OSError."""
        text = json.dumps(self.document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        # A lone half of a surrogate pair is written as the JSON escape from which it was read.
        own_file.write_whole(file, text, errors="backslashreplace")


def load(file: pathlib.Path) -> Result:
    """Reads and checks a file; raises ResultError."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ResultError(f"{file}: byte {error.start}: found no text, expected JSON; is it a result file?") from None
    except OSError as error:
        raise ResultError(f"{file}: {error.strerror}") from None
    try:
        document = json.loads(text)
    except RecursionError:
        raise ResultError(f"{file}: found JSON nested beyond reason, expected a result file") from None
    except ValueError as error:
        raise ResultError(_not_json(file, text, error)) from None
    return validate(document, str(file))


def validate(document: Any, name: str = "result") -> Result:
    """Checks a document; `name` is for the message. Raises ResultError."""
    try:
        _check_top(document)
    except _Wrong as wrong:
        raise ResultError(f"{name}: {wrong}") from None
    return Result(document)


class _Wrong(Exception):
    def __init__(self, place: str, found: Any, expected: str) -> None:
        shown = found if isinstance(found, _Missing) else repr(found) if len(repr(found)) <= 40 else _kind(found)
        super().__init__(f"{place}: found {shown}, expected {expected}" if place else
                         f"found {shown}, expected {expected}")


class _Missing:
    def __str__(self) -> str:
        return "nothing"


def _not_json(file: pathlib.Path, text: str, error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return f"{file}: {error}, expected a result file"
    place = f"{file}:{error.lineno}:{error.colno}"
    if not text.strip():
        return f"{file}: found an empty file, expected a result file"
    # A truncated file lacks its end, or the end of a string.
    if error.pos >= len(text.rstrip()) or "Unterminated string" in error.msg:
        return f"{place}: found the end of the file, expected the rest of the JSON document: the file is truncated"
    return f"{place}: found {text[error.pos:error.pos + 20]!r}, expected JSON ({error.msg}); is it a result file?"


def _check_top(document: Any) -> None:
    if not isinstance(document, dict) or "tailrace_result" not in document:
        raise _Wrong("", document if not isinstance(document, dict) else "a document without \"tailrace_result\"",
                     "a result file, as `tailrace bench pattern --json FILE` writes")
    if document["tailrace_result"] != VERSION:
        raise _Wrong("tailrace_result", document["tailrace_result"],
                     f"{VERSION}: the file is of another version of the format")
    if _get(document, "", "kind", _text) not in KINDS:
        raise _Wrong("kind", document["kind"], " or ".join(map(repr, KINDS)))
    for key in ("created", "command", "tailrace"):
        _get(document, "", key, _text)
    _get(document, "", "machine", _object)
    for place, one in _each(document, "", "storage"):
        for key in ("directory", "filesystem", "page_cache"):
            _get(one, place, key, _text)
    settings = _get(document, "", "settings", _object)
    for key in ("iterations", "bytes", "repeats"):
        _get(settings, "settings", key, _number)
    if document["kind"] == "pattern" or document.get("measured") is not None:
        measured = _get(document, "", "measured", _object)
        for key in (*_FITS, *(key for key in _MORE_FITS if key in measured)):
            _check_fit(_get(measured, "measured", key, _object), f"measured.{key}")
    for place, point in _each(document, "", "points"):
        _check_point(point, place)
    if document.get("steal") is not None:
        counted = _get(document, "", "steal", _object)
        for key in steal.keys(counted):
            _get(counted, "steal", key, _number)
    for place, rung in _each(document, "", "ablation") if "ablation" in document else []:
        _get(rung, place, "name", _text)
        _check_series(_get(rung, place, "series", _object), f"{place}.series")


def _check_fit(fit: dict[str, Any], place: str) -> None:
    for key in _FIT:
        _get(fit, place, key, _number)
    for at, sample in enumerate(_get(fit, place, "samples", _list)):
        if not isinstance(sample, list) or len(sample) != 2 or not all(map(_is_number, sample)):
            raise _Wrong(f"{place}.samples[{at}]", sample, "[n, seconds]")


def _check_point(point: dict[str, Any], place: str) -> None:
    for key in _POINT:
        _get(point, place, key, _number)
    models = point.get("models")
    if models is not None:
        _object(models, f"{place}.models")
        for key, value in models.items():
            if value is not None:
                _number(value, f"{place}.models.{key}")
    for title, series in _get(point, place, "series", _object).items():
        at = f'{place}.series."{title}"'
        _object(series, at)
        _check_series(series, at)


def _check_series(series: dict[str, Any], place: str) -> None:
    _get(series, place, "writer", _text)
    if series.get("error") is not None:
        _get(series, place, "error", _text)
        return
    for key in ("predicted_seconds", "deviation", "deviation_of_medians"):
        if series.get(key) is not None:
            _get(series, place, key, _number)
    for place_, run in _each(series, place, "runs"):
        _object(run, place_)
    summary = _get(series, place, "summary", _object)
    _get(summary, f"{place}.summary", "total", _object)
    for name, value in summary.items():
        at = f"{place}.summary.{name}"
        _object(value, at)
        for key in SUMMARY:
            _get(value, at, key, _number)


def _get(holder: dict[str, Any], place: str, key: str, check: _Check) -> Any:
    value = holder.get(key, _Missing())
    check(value, f"{place}.{key}" if place else key)
    return value


def _each(holder: dict[str, Any], place: str, key: str) -> list[tuple[str, dict[str, Any]]]:
    """Returns the objects of a list, each with its place."""
    found = []
    for at, one in enumerate(_get(holder, place, key, _list)):
        where = f"{place}.{key}[{at}]" if place else f"{key}[{at}]"
        _object(one, where)
        found.append((where, one))
    return found


def _object(value: Any, place: str) -> None:
    if not isinstance(value, dict):
        raise _Wrong(place, value, "an object")


def _list(value: Any, place: str) -> None:
    if not isinstance(value, list):
        raise _Wrong(place, value, "a list")


def _text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise _Wrong(place, value, "a text")


def _number(value: Any, place: str) -> None:
    if not _is_number(value):
        raise _Wrong(place, value, "a number")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _MOST


_MOST = 1e300  # largest number: JSON's integers may be larger than a float


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text"}.get(type(value), "something else")
