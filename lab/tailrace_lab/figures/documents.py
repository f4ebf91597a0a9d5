"""The results from which tables are made: docs/figures/NAME.json, trimmed files of `--json`.

A Value knows its file and its place there, so that a fault of a file is one error that names both, what was found and
what was expected.
"""

from __future__ import annotations

import json
import math
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FOLDER = pathlib.Path("docs/figures")

_DIGITS = 6
_LISTS = ("runs", "samples", "write_times")
_MEMBERS = ("ci_low", "ci_high", "statistics", "measured", "models", "predicted_from", "predicted_from_medians",
            "predicted_interval", "within_interval", "switches", "description", "directory", "library", "os",
            # of Google Benchmark
            "host_name", "executable", "caches", "load_avg", "family_index", "per_family_instance_index", "run_name",
            "run_type", "repetitions", "repetition_index", "threads")
_PATH = re.compile(r"(?<![\w.`)])/(?:[^\s/,:;]+/)+([^\s/,:;]+)")  # absolute


class FiguresError(Exception):
    """A fault of a result, or of a page."""


@dataclass(frozen=True)
class Source:
    """A result that tables need."""

    key: str  # the member that says what it is; "" for any
    version: int | None
    command: str  # makes it


def _pattern(options: str) -> Source:
    return Source("tailrace_result", 1, f"tailrace bench pattern {options}")


def _figures(program: str) -> Source:
    return Source("tailrace_figures", 1, program)


SOURCES = {
    "sweep": _pattern("--sweep"), "memory": _pattern("--kernel spin --dir /dev/shm"),
    "ablation": _pattern("--ablation"), "lent": _pattern("--writers …,tailrace-borrow-unaligned,…"),
    "triad": _pattern("--kernel triad"), "peers": Source("tailrace_result", 1, "make bench-peers"),
    "handover": Source("benchmarks", None, "build/release/lab/calls/bench_handover"),
    "variables": _figures("build/release/lab/calls/bench_variables"),
    "variables_h5py": _figures("lab/calls/variables_by_h5py.py"),
    "measuring": _figures("build/release/lab/inside/measurement_cost"),
    "growth": _figures("build/release/lab/inside/growth_cost"),
    "merging": _figures("build/release/lab/inside/merge_cost"),
    "core": Source("tailrace_bars", 1, "tailrace bench core"),
    "busy": Source("tailrace_bars", 1, "tailrace bench pattern --busy"),
    "jitter": Source("tailrace_jitter", 1, "tailrace bench jitter"),
    "small": Source("tailrace_small", 1, "tailrace bench small"),
    "forward": Source("tailrace_forward", 2, "tailrace bench forward"),
    "mpiio": Source("tailrace_mpiio", 1, "tailrace bench mpiio"),
    "cube": Source("tailrace_cube_bench", 1, "tailrace bench cube"),
    "hdf5": Source("tailrace_hdf5", 1, "make bench-hdf5"),
    "pitz_daily": Source("pitz_daily", 1, "make demo-openfoam"),
}


class Value:
    """A value of a JSON document, with its file and its place in it."""

    def __init__(self, value: Any, file: str, place: str = "") -> None:
        self.value = value
        self.file = file
        self._place = place

    def __getitem__(self, key: str) -> Value:
        found = self._typed(dict, "an object")
        if key not in found:
            raise self.fault("nothing", "a value", key)
        return Value(found[key], self.file, self._at(key))

    def get(self, key: str) -> Value | None:
        """Returns a member, or None if it is missing or null."""
        found = self._typed(dict, "an object")
        return None if found.get(key) is None else self[key]

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.fault(self._shown(), "a number")
        try:
            return _finite(self.value)
        except (ValueError, OverflowError):
            raise self.fault(self._shown(), "a finite number") from None

    def text(self) -> str:
        return str(self._typed(str, "a text"))

    def __iter__(self) -> Iterator[Value]:
        for number, one in enumerate(self._typed(list, "a list")):
            yield Value(one, self.file, f"{self._place}[{number}]")

    def members(self) -> list[tuple[str, Value]]:
        """Returns the members of an object, with their names."""
        return [(key, self[key]) for key in self._typed(dict, "an object")]

    def fault(self, found: str, expected: str, key: str = "") -> FiguresError:
        """Returns the error for what was found here."""
        place = self._at(key) if key else self._place
        return FiguresError(f"{self.file}: {place + ': ' if place else ''}found {found}, expected {expected}")

    def _at(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key

    def _typed(self, kind: type, words: str) -> Any:
        if not isinstance(self.value, kind):
            raise self.fault(self._shown(), words)
        return self.value

    def _shown(self) -> str:
        shown = repr(self.value)
        kinds = {dict: "an object", list: "a list"}
        return kinds.get(type(self.value), shown if len(shown) <= 40 else "a long text")


def _finite(number: str | float) -> float:
    """Returns a number; raises ValueError, also of a text in JSON, or OverflowError if it is not finite."""
    if not math.isfinite(value := float(number)):
        raise ValueError(f"{number} is no finite number")
    return value


def read(folder: pathlib.Path, name: str) -> Value:
    """Reads a result, also of a quick run, and checks what it is; raises FiguresError."""
    source, file = SOURCES[name], folder / f"{name}.json"
    made = f"the result of `{source.command}`"
    try:
        document = json.loads(file.read_text(encoding="utf-8"), parse_float=_finite, parse_constant=_finite)
    except FileNotFoundError:
        raise FiguresError(f"{file}: found no file, expected {made}") from None
    except OSError as error:
        raise FiguresError(f"{file}: {error.strerror}, expected {made}") from None
    except (ValueError, RecursionError) as error:
        raise FiguresError(f"{file}: found no JSON ({error}), expected {made}") from None
    if not isinstance(document, dict) or source.key not in document:
        kind = next((key for key in document if key.startswith("tailrace_")), "another document") if isinstance(
            document, dict) else "no object"
        raise FiguresError(f"{file}: found {kind}, expected {source.key}: {made}")
    version = document[source.key]
    if source.version is not None and (isinstance(version, bool) or version != source.version):
        raise FiguresError(f"{file}: {source.key}: found {version!r}, expected {source.version}")
    return Value(document, str(file))


def published(folder: pathlib.Path, name: str) -> Value:
    """Reads a result that pages may show; raises FiguresError, also for that of a quick run."""
    document = read(folder, name)
    if document.value.get("quick"):
        raise document.fault("the result of a quick run, whose figures say nothing", "one of "
                             f"`{SOURCES[name].command}`")
    return document


def trimmed(document: Any) -> Any:
    """Returns what tables need of a document: without single runs, paths and names of the machine, and with fewer
    digits."""
    if isinstance(document, dict):
        found = {key: trimmed(value) for key, value in document.items()
                 if key not in _MEMBERS and not (key in _LISTS and isinstance(value, list))}
        if "kernel" in found and isinstance(found["kernel"], str):
            found["kernel"] = ".".join(found["kernel"].split(".")[:2])
        return found
    if isinstance(document, list):
        return [trimmed(one) for one in document]
    if isinstance(document, float):
        return float(f"{document:.{_DIGITS}g}")
    if isinstance(document, str):
        return _PATH.sub(r"\1", re.sub(r"(--dir[ =])\S+", r"\1DIR", document))
    return document


def chosen(folder: pathlib.Path) -> dict[str, Value]:
    """Returns the results that a folder has, trimmed; raises FiguresError, also if it has none."""
    found = {name: published(folder, name) for name in SOURCES if (folder / f"{name}.json").exists()}
    if not found:
        raise FiguresError(f"{folder}: found no results, expected some of {', '.join(SOURCES)} (.json)")
    return {name: Value(trimmed(one.value), str(folder / f"{name}.json")) for name, one in found.items()}
