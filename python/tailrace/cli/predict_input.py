"""The input of `tailrace predict`: turns options, measurements and files into the models' inputs.

Every mistake becomes WrongUsage, which names what was found and what was expected; a failed measurement becomes
Unmeasured. It prints only the progress of measurements.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tailrace import lab, quantity
from tailrace.models import shield
from tailrace.models.advice import Setting

from . import progress

COPY_BANDWIDTH = 10e9  # bytes a second, in memory that was touched before
REQUEST = 2.1e-6  # seconds: Sid Lakhdar 2017 §4.1.2, the HPC machine

_MOST_OUTPUTS = 1_000_000  # of single variables that are replayed, which takes a few seconds

_Number = TypeVar("_Number", int, float)


class WrongUsage(Exception):
    """Options that are wrong together: what was found, and what was expected."""


class Unmeasured(Exception):
    """Says why a measurement failed."""


@dataclass(frozen=True)
class Input:
    """One input of the models, for people: what it is, its value, and its source."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Task:
    """Everything to predict."""

    setting: Setting | None  #: of the whole program; None if only variables were given
    spread: tuple[Setting, ...]  #: the same from each measurement; empty if nothing was measured
    bytes: int  #: of one output; 0 if unknown
    places: tuple[str, ...]
    inputs: tuple[Input, ...]
    measured: Any  #: tailrace_lab.bench.measure.Measured, or None
    variables: tuple[shield.Variable, ...]
    period: float | None  #: C, between two outputs of the variables; None: they are far apart
    iterations: int


# ---- types of options -------------------------------------------------------------------------------------


def _above_zero(parse: Callable[[str], _Number], what: str) -> Callable[[str], _Number]:
    def convert(text: str) -> _Number:
        try:
            value = parse(text)
        except quantity.QuantityError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        if not value > 0:
            raise argparse.ArgumentTypeError(f"expected {what} above zero, found {text!r}")
        return value

    return convert


time = _above_zero(quantity.parse_time, "a time")
size = _above_zero(quantity.parse_size, "a size")
rate = _above_zero(quantity.parse_rate, "a rate")


def ratio(text: str) -> float:
    """Parses a number above zero."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"expected a number above zero, such as 0.5, found {text!r}")
    return value


def count(text: str) -> int:
    """Parses a whole number, 1 or more."""
    return _whole(text, 1)


def samples(text: str) -> int:
    """Parses a number of samples: under load writes end in bursts, and a line needs several of these."""
    return _whole(text, 16)


def share(text: str) -> float:
    """Parses a percentage: "2%" → 0.02."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", text, re.ASCII)
    if not match:
        raise argparse.ArgumentTypeError(f"expected a percentage, 0% or more, such as 2%, found {text!r}")
    return float(match[1]) / 100


def _whole(text: str, least: int) -> int:
    if not re.fullmatch(r"\s*\+?\d{1,9}\s*", text, re.ASCII) or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number, {least} or more and below 10^9, found {text!r}")
    return int(text)


# ---- the options together ---------------------------------------------------------------------------------


def read(arguments: argparse.Namespace) -> Task:
    """Returns everything that was requested. Raises WrongUsage or Unmeasured."""
    whole = not arguments.pst or arguments.bandwidth or arguments.measure
    places = _places(arguments)
    _check_lone_options(arguments)
    if whole:
        _require(arguments)
    variables, period = _variables(arguments)
    setting, measured, inputs = None, None, ()
    if whole:
        setting, measured, inputs = _setting(arguments)
    period = setting.c if setting else arguments.compute or period
    complete = _complete(variables, setting, period)
    spread = _spread(arguments, setting, measured) if setting and measured else ()
    task = Task(setting, spread, arguments.bytes or 0, places, tuple(inputs), measured, complete, period,
                arguments.iterations)
    if complete and period is not None:
        most = _MOST_OUTPUTS // len(complete)
        if arguments.iterations > most:
            raise WrongUsage(f"argument --iterations: expected at most {most} with --pst and {len(complete)} "
                             f"variables, since each output is replayed, found {arguments.iterations}")
        try:
            shield.run(complete, 1, period)
        except ValueError as error:
            raise WrongUsage(f"argument --pst: {error}") from None
    return task


def _places(arguments: argparse.Namespace) -> tuple[str, ...]:
    places = tuple(arguments.place or ("thread", "core"))
    if arguments.place and "core" in places and (arguments.cores or 0) < 2:
        found = "no --cores" if arguments.cores is None else f"--cores {arguments.cores}"
        raise WrongUsage(f"argument --place: core: expected --cores of 2 or more, one to write and the others to "
                         f"compute, found {found}")
    return places


def _check_lone_options(arguments: argparse.Namespace) -> None:
    """Rejects options that mean nothing without another."""
    for option, needs, there in (("--write-times", "--pst", arguments.pst), ("--handovers", "--pst", arguments.pst),
                                 ("--interval", "--pst", arguments.pst),
                                 ("--samples", "--measure", arguments.measure),
                                 ("--pattern", "--measure", arguments.measure),
                                 ("--dedicated-compute", "--cores", arguments.cores),
                                 ("--dedicated-write", "--cores", arguments.cores)):
        if getattr(arguments, option[2:].replace("-", "_")) is not None and not there:
            raise WrongUsage(f"argument {option}: expected {needs} with it, found none")
    directories = len(arguments.measure or ())
    if directories > 1 and arguments.devices not in (None, directories):
        raise WrongUsage(f"argument --devices: expected {directories}, as many as directories to measure, found "
                         f"{arguments.devices}")


def _require(arguments: argparse.Namespace) -> None:
    missing = []
    if arguments.compute is None and arguments.c_over_w is None:
        missing.append("--compute TIME (or --c-over-w RATIO)")
    if arguments.bytes is None:
        missing.append("--bytes SIZE")
    if arguments.bandwidth is None and not arguments.measure:
        missing.append("--bandwidth RATE (or --measure DIR)")
    if missing:
        raise WrongUsage(f"expected {', '.join(missing)}")


def _setting(arguments: argparse.Namespace) -> tuple[Setting, Any, list[Input]]:
    measured = _measure(arguments) if arguments.measure else None
    inputs = []
    if measured:
        w, sync_w = measured.write_saturation.slope, measured.write_regression.slope
        inputs += [_fitted("writing W, under load", measured.write_saturation),
                   _fitted("writing W, while computing", measured.write_saturation_busy),
                   _fitted("writing W, while copying", measured.write_saturation_copy),
                   _fitted("writing W, synchronously", measured.write_regression)]
    else:
        w, sync_w = arguments.bytes / arguments.bandwidth, None
        inputs.append(Input("writing W", quantity.format_time(w), f"{quantity.format_size(arguments.bytes)} at "
                                                                  f"{quantity.format_rate(arguments.bandwidth)}"))
    if arguments.c_over_w is not None:
        c = arguments.c_over_w * w
        inputs.insert(0, Input("computing C", quantity.format_time(c), f"{arguments.c_over_w:g} × W"))
    else:
        c = arguments.compute
        inputs.insert(0, Input("computing C", quantity.format_time(c), "given"))
    copy, req = _copy(arguments, measured, inputs), _request(arguments, measured, inputs)
    copy_w = measured.write_while_copying(c) if measured else None
    w = measured.write(c) if measured else w
    setting = Setting(n=arguments.iterations, c=c, w=w, sync_w=sync_w, copy_w=copy_w, req=req, copy=copy,
                      devices=arguments.devices or len(arguments.measure or [0]), variables=arguments.variables,
                      slowdown=arguments.slowdown, cores=arguments.cores, c_ded=arguments.dedicated_compute,
                      w_ded=arguments.dedicated_write)
    return setting, measured, inputs


def _spread(arguments: argparse.Namespace, setting: Setting, measured: Any) -> tuple[Setting, ...]:
    """C is asked for, and the same in all."""
    def by(one: Any) -> Setting:
        copy = max(0.0, one.write_copy.slope) if arguments.copy_bandwidth is None else setting.copy
        req = max(0.0, one.request.slope) if arguments.request is None else setting.req
        return replace(setting, w=one.write(setting.c), sync_w=one.write_regression.slope,
                       copy_w=one.write_while_copying(setting.c), copy=copy, req=req)

    return tuple(by(one) for one in (measured, *measured.rounds))


def _copy(arguments: argparse.Namespace, measured: Any, inputs: list[Input]) -> float:
    if measured and arguments.copy_bandwidth is None:
        inputs.append(_fitted("copying", measured.write_copy))
        return max(0.0, measured.write_copy.slope)
    bandwidth = arguments.copy_bandwidth or COPY_BANDWIDTH
    copy = arguments.bytes / bandwidth
    assumed = "" if arguments.copy_bandwidth else ", assumed"
    inputs.append(Input("copying", quantity.format_time(copy),
                        f"{quantity.format_size(arguments.bytes)} at {quantity.format_rate(bandwidth)}{assumed}"))
    return copy


def _request(arguments: argparse.Namespace, measured: Any, inputs: list[Input]) -> float:
    if measured and arguments.request is None:
        inputs.append(_fitted("handing over, req", measured.request))
        return max(0.0, measured.request.slope)
    req = REQUEST if arguments.request is None else arguments.request
    inputs.append(Input("handing over, req", quantity.format_time(req),
                        "assumed" if arguments.request is None else "given"))
    return req


def _fitted(name: str, fit: Any) -> Input:
    dropped = f", the first {fit.dropped} left out" if fit.dropped else ""
    return Input(name, quantity.format_time(fit.slope),
                 f"measured: R² {fit.r2:.3f} over {quantity.counted(len(fit.samples), 'sample')}{dropped}, "
                 f"intercept {quantity.format_time(fit.intercept)}")


# ---- measuring --------------------------------------------------------------------------------------------


def _measure(arguments: argparse.Namespace) -> Any:
    measure = lab.parts("tailrace.measurements").get("storage")
    if measure is None:
        raise Unmeasured(lab.missing("--measure"))
    options = {} if arguments.samples is None else {"count": arguments.samples}
    directories = [pathlib.Path(directory) for directory in arguments.measure]
    for directory in directories:
        if not directory.exists():  # it would lie on the storage of its parent, which may be another one
            raise Unmeasured(f"--measure: {directory}: found no such directory, expected one on the storage that is "
                             "to be measured")
    try:
        given = pathlib.Path(arguments.pattern) if arguments.pattern else None
        with progress.steps() as say:
            measured = measure.load()(directories, arguments.bytes, path=given,
                                      progress=lambda title: say(f"measuring {title}"), **options)
    except RuntimeError as error:
        raise Unmeasured(f"--measure: {error}") from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise Unmeasured(f"--measure: {where}{error.strerror or error}") from None
    for what, fit in (("by saturation", measured.write_saturation), ("by regression", measured.write_regression)):
        if not fit.slope > 0:
            raise Unmeasured(f"--measure: W {what} came out as {fit.slope:g} s, expected a time above zero: "
                             "take more --bytes or --samples")
    return measured


# ---- single variables -------------------------------------------------------------------------------------


@dataclass
class _Given:
    """What is known of a variable so far, in seconds; None if not given."""

    pst: float
    write: float | None = None
    handover: float | None = None
    formatting: float | None = None


def _variables(arguments: argparse.Namespace) -> tuple[dict[str, _Given], float | None]:
    """Returns the variables, and the computing time between two outputs if a file has it."""
    if not arguments.pst:
        return {}, None
    path, period = pathlib.Path(arguments.pst), None
    if "=" in arguments.pst and not path.exists():
        found = {name: _Given(pst) for name, pst in _pairs("--pst", arguments.pst).items()}
    else:
        found, period = _read_file(path)
    for option, text in (("write", arguments.write_times), ("handover", arguments.handovers)):
        name_of_option = "--write-times" if option == "write" else "--handovers"
        for name, value in _pairs(name_of_option, text or "").items():
            if name not in found:
                raise WrongUsage(f"argument {name_of_option}: {name}: expected one of --pst ({', '.join(found)})")
            setattr(found[name], option, value)
    return found, _stretch(found, period, arguments.interval)


def _stretch(variables: dict[str, _Given], period: float | None, interval: float | None) -> float | None:
    """Changes the time between two outputs, and the shield times with it; returns the new time."""
    if interval is None:
        return period
    if period is None:
        raise WrongUsage("argument --interval: expected a trace or a run for --pst, which has the time between two "
                         "outputs, found none")
    more = (interval - 1) * period
    for one in variables.values():
        one.pst = max(0.0, one.pst + more)
        if one.handover is not None:
            one.handover = min(one.handover, interval * period)
    return interval * period


def _complete(variables: dict[str, _Given], setting: Setting | None,
              period: float | None) -> tuple[shield.Variable, ...]:
    """Fills in the defaults: W in equal parts, and hand-over at the end of the iteration."""
    missing = [name for name, one in variables.items() if one.write is None]
    if missing and setting is None:
        raise WrongUsage(f"argument --write-times: expected the time to write {', '.join(missing)}, found none")
    part = setting.w / len(variables) if setting and variables else 0.0
    end = period or 0.0
    return tuple(shield.Variable(name, one.pst, part if one.write is None else one.write,
                                 end if one.handover is None else one.handover, one.formatting)
                 for name, one in variables.items())


def _pairs(option: str, text: str) -> dict[str, float]:
    """Parses "rho=0.3s,U=1.2s", in its order."""
    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or not name:
            raise WrongUsage(f"argument {option}: expected NAME=TIME, such as rho=0.3s, found {part!r}")
        if name in found:
            raise WrongUsage(f"argument {option}: {name}: given twice")
        found[name] = _seconds(f"argument {option}: {name}", value)
    return found


def _seconds(where: str, text: str) -> float:
    try:
        value = quantity.parse_time(text)
    except quantity.QuantityError as error:
        raise WrongUsage(f"{where}: {error}") from None
    if value < 0:
        raise WrongUsage(f"{where}: expected a time of 0 s or more, found {text!r}")
    return value


def _read_file(path: pathlib.Path) -> tuple[dict[str, _Given], float | None]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise WrongUsage(f"argument --pst: {path}: expected a file, or NAME=TIME,…: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WrongUsage(f"argument --pst: {path}: expected text, found bytes that are none") from None
    period: float | None
    if text.lstrip().startswith("{"):
        found, period = _from_json(path, text)
    else:
        found, period = _from_lines(path, text), None
    if not found:
        raise WrongUsage(f"argument --pst: {path}: expected at least one variable, found none")
    return found, period


def _from_lines(path: pathlib.Path, text: str) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        where = f"argument --pst: {path}:{number}"
        if not words:
            continue
        if not 2 <= len(words) <= 4:
            raise WrongUsage(f"{where}: expected a name, its PST, its write time and its hand-over, such as "
                             f"`rho 0.3s 0.4s`, found {line.strip()!r}")
        if words[0] in found:
            raise WrongUsage(f"{where}: {words[0]}: given twice")
        found[words[0]] = _Given(*(_seconds(f"{where}: {words[0]}", word) for word in words[1:]))
    return found


def _from_json(path: pathlib.Path, text: str) -> tuple[dict[str, _Given], float]:
    where = f"argument --pst: {path}"
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise WrongUsage(f"{where}:{error.lineno}: expected JSON, found something else or its end: "
                         f"{error.msg}") from None
    if isinstance(document, dict) and "traceEvents" in document:
        return _from_trace(path, document)
    return _from_run(where, document)


def _from_trace(path: pathlib.Path, document: dict[str, Any]) -> tuple[dict[str, _Given], float]:
    """Reads a trace of a program of OpenFOAM: medians over its outputs. The writer's seconds for a file are among the
    arguments of its end, since it has many files in hand at a time."""
    from tailrace.pictures import fault, trace  # here: other commands do without

    where = f"argument --pst: {path}"
    try:
        run = trace.read([(path, document)])
        starts = run.starts()
        writes: dict[str, list[float]] = {}
        formatting: dict[str, list[float]] = {}
        for event in document["traceEvents"]:
            if event["ph"] == "e" and "seconds" in event["args"]:
                writes.setdefault(event["args"]["variable"], []).append(float(event["args"]["seconds"]))
                formatting.setdefault(event["args"]["variable"], []).append(float(event["args"]["formatting"]))
        shields: dict[str, list[Any]] = {}
        for one in run.shields(copied=True):
            shields.setdefault(one.variable, []).append(one)
        begun = sorted(starts.values())
        period = _median(after - before for before, after in zip(begun, begun[1:]))
        # Outputs differ: the median of a shield time may be longer than that of the time between outputs.
        return {name: _Given(min(period, _median(one.needed - one.begin for one in each)),
                             _median(writes.get(name), None),
                             _median(one.begin - starts[one.iteration] for one in each),
                             _median(formatting.get(name), None))
                for name, each in shields.items()}, period
    except fault.PictureError as error:
        raise WrongUsage(f"argument --pst: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise WrongUsage(f"{where}: expected two outputs at least, found a trace without: {error}") from None


def _from_run(where: str, run: Any) -> tuple[dict[str, _Given], float]:
    """Reads a run of the program `pattern`: medians of its measurements. It computes its variables one after the
    other, in equal parts, and hands each over when it is computed."""
    if not isinstance(run, dict) or run.get("pattern_run") != 1:
        found = run.get("pattern_run", "none") if isinstance(run, dict) else type(run).__name__
        raise WrongUsage(f'{where}: expected a run of the program `pattern`, "pattern_run": 1, found {found!r}')
    try:
        each = run["per_variable"]
        compute = float(run["seconds_computing"]) / int(run["iterations"])
        return {str(one["name"]): _Given(_median(one["pst_seconds"]), _median(one.get("write_seconds"), None),
                                         compute * (index + 1) / len(each))
                for index, one in enumerate(each)}, compute
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise WrongUsage(f"{where}: expected seconds_computing, iterations and per_variable with names and "
                         f"pst_seconds, found a run without: {error}") from None


_NONE: Any = object()


def _median(values: Any, default: Any = _NONE) -> Any:
    known = sorted(float(value) for value in values or () if value is not None)
    if known:
        return known[len(known) // 2]
    if default is _NONE:
        raise ValueError("no pst_seconds")
    return default
