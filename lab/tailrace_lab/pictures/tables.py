"""The figures behind the pictures of benchmarks as HTML tables: for readers who want the values, or cannot see
pictures.

Makes text, and escapes all words from files. A dash stands for what was not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tailrace import quantity
from tailrace.pictures.frame import group, row, table, text

from . import numbers, peers, words
from .numbers import Result, Value
from .write_times import Run

_NONE = "–"
_FITS = {"write_regression": "W by regression (synchronous writes)",
         "write_saturation": "W by saturation (under load)",
         "write_saturation_busy": "W by saturation, while the caller computes",
         "write_saturation_copy": "W by saturation, while the caller copies",
         "write_copy": "the copy that write makes",
         "request": "req, to submit a request", "copy": "copy of an iteration's bytes"}


def _failed(name: str, why: object, columns: int) -> str:
    said = f"could not run: {text(why)}"
    return f'<tr><th scope="row">{text(name)}</th><td class="why" colspan="{columns}">{said}</td></tr>'


def of_result(result: Result) -> list[str]:
    """Returns all tables of a result file."""
    found = []
    if result.get("points"):
        found.append(_points(result))
    if result.get("ablation"):
        found.append(_ablation(result))
    if numbers.deviations(result):
        found.append(_deviations(result))
    if words.copies(result):
        found.append(_copies(result))
    if _shields(result):
        found.append(table(["variable", "PST, s", "write time, s", "largest excess, s"], _shields(result),
                           "Potential shield time (PST) of each variable: from its hand-over until its memory is "
                           "needed "
                           "again; the excess is by how much writing took longer"))
    if result.get("measured"):
        found.append(_measured(result))
    return found


@dataclass(frozen=True)
class _Columns:
    """The columns of a table of writers: those for which some writer has a figure."""

    predicted: bool
    lines: bool

    def names(self, first: str) -> list[str]:
        """Returns the head of the table."""
        return [first, "total, s", "interval, s", "least … most, s", "× limit", "waiting, s", "OO, %", "slow-down, %",
                *(["predicted, s", "off, %"] if self.predicted else []), "peak memory",
                *(["lines of user code"] if self.lines else [])]


def _columns(every: Iterable[dict[str, Any]]) -> _Columns:
    found = list(every)
    return _Columns(any(series.get("predicted_seconds") for series in found),
                    any(series.get("user_lines") for series in found))


def _points(result: Result) -> str:
    columns = _columns(series for point in numbers.points(result) for series in point["series"].values())
    names, rows = columns.names("writer"), []
    for point in numbers.points(result):
        rows.append(group(f"C/W {numbers.label(point)}: C {quantity.format_time(point['compute_seconds'])}, "
                          f"W {quantity.format_time(point['write_seconds'])}, "
                          f"limit {quantity.format_time(point['limit_seconds'])}", len(names)))
        rows += [_series(name, point, series, columns) for name, series in point["series"].items()]
    return table(names, rows, f"Medians of {result['settings']['repeats']} runs, taken in turn; interval: "
                              f"{numbers.interval(result)}")


def _ablation(result: Result) -> str:
    columns, point = _columns(rung["series"] for rung in result["ablation"]), numbers.only_point(result)
    rows = [_series(rung["name"], point, rung["series"], columns) for rung in result["ablation"]]
    return table(columns.names("rung"), rows, "Ablation: the parts of the design, one at a time")


def _series(name: str, point: dict[str, Any] | None, series: dict[str, Any], columns: _Columns) -> str:
    total = numbers.value(series, "total")
    if total is None:
        return _failed(name, series.get("error", "no figures"), len(columns.names("")) - 1)
    idle = name == "none"
    predicted, memory = series.get("predicted_seconds"), numbers.value(series, "peak_memory")
    cells: list[object] = [
        _digits(total.median), f"{_digits(total.low)} … {_digits(total.high)}",
        f"{_digits(total.least)} … {_digits(total.most)}",
        _NONE if idle else _cell(numbers.to_limit(point, series), _digits),
        _NONE if idle else _cell(numbers.value(series, "waiting"), _digits),
        _NONE if idle or name == "sync" else _cell(numbers.value(series, "overlap"), quantity.percent),
        _NONE if idle else _cell(numbers.value(series, "slowdown"), _signed)]
    if columns.predicted:
        cells += [_digits(predicted), _signed(total.median / predicted - 1)] if predicted else [_NONE, _NONE]
    cells.append(quantity.format_size(round(memory.median)) if memory else _NONE)
    if columns.lines:
        cells.append(series.get("user_lines") or _NONE)
    return row(name, cells)


def _cell(value: Value | None, form: Callable[[float], str]) -> str:
    return _NONE if value is None else form(value.median)


def _signed(share: float) -> str:
    return quantity.percent(share, "+")


def _deviations(result: Result) -> str:
    worst: dict[str, tuple[float, str, float, float, float]] = {}
    for one in numbers.deviations(result):
        worst.setdefault(one[1], one)
    rows = [row(name, [f"{at:.3g}", _digits(predicted), _digits(measured), _signed(deviation)])
            for deviation, name, at, predicted, measured in worst.values()]
    return table(["writer", "C/W", "predicted, s", "measured, s", "off, %"], rows,
                 "Largest deviation of the measured total from its prediction, for each writer that a model speaks "
                 "of")


def _copies(result: Result) -> str:
    every = words.copies(result)
    measured = any(one.measured is not None for one in every)
    rows = []
    for one in every:
        share = 100 * one.saved / one.limit
        cells = [_digits(one.limit), _digits(one.with_copies), f"{one.saved:#.3g}", f"{share:.1f}"]
        if measured:
            cells.append(_NONE if one.measured is None else f"{one.measured:+#.3g}")
        rows.append(row(f"{one.at:.3g}", cells))
    return table(["C/W", "limit, s", "limit with copies, s", "saved without copies, s", "saved, % of the limit",
                  *(["measured: write − best of alloc and borrow, s"] if measured else [])], rows,
                 "What alloc/commit and borrow save")


def _shields(result: Result) -> list[str]:
    """Returns the table by variable for tailrace's writers, if there are several variables or a run has them. `write`
    copies: the program's memory is free at once."""
    rows = []
    columns = 4
    for point in numbers.points(result):
        for name, series in point["series"].items():
            gathered: dict[str, dict[str, list[float]]] = {}
            for run in series.get("runs") or [] if peers.ours(name) and not name.endswith("write") else []:
                for variable in run.get("per_variable") or []:
                    kept = gathered.setdefault(str(variable.get("name")), {})
                    for key in ("pst_seconds", "write_seconds", "excess_seconds"):
                        kept.setdefault(key, []).extend(one for one in variable.get(key) or [] if one is not None)
            if gathered:
                rows.append(group(f"C/W {numbers.label(point)}, {name}", columns))
            rows += [row(variable, [_middle(kept["pst_seconds"]), _middle(kept["write_seconds"]),
                                    _digits(max(kept["excess_seconds"])) if kept["excess_seconds"] else _NONE])
                     for variable, kept in gathered.items()]
    return rows


def _middle(values: list[float]) -> str:
    return _digits(numbers.median(values)) if values else _NONE


def _digits(value: float) -> str:
    return quantity.three(value)


def _measured(result: Result) -> str:
    rows = []
    for name, words_ in _FITS.items():
        fit = result["measured"].get(name)
        if fit:
            rows.append(row(words_, [quantity.format_time(fit["seconds"]), quantity.format_time(fit["intercept"]),
                                     f"{fit['r2']:.4f}", len(fit.get("samples") or []), fit["dropped"]]))
    return table(["measured before the runs", "slope, an iteration", "intercept", "R²", "samples", "dropped"], rows,
                 "Slopes of straight lines through cumulated times. Predictions are made from the same, "
                 "measured again in each round.")


def of_times(runs: list[Run]) -> str:
    """Returns the figures of tiles."""
    rows = [row(run.name, [run.experiment or _NONE, len(run.seconds), quantity.format_size(round(run.bytes)),
                           _digits(run.slowest), quantity.format_rate(run.throughput), f"{100 * run.wasted:.0f}"])
            for run in runs]
    return table(["run", "experiment", "processes", "bytes", "slowest, s", "throughput", "wasted, %"], rows,
                 "Throughput: all bytes by the slowest process; wasted: the share of the processes' time that was "
                 "spent "
                 "waiting for it")
