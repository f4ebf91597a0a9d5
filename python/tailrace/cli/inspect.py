"""`tailrace inspect`: shows what is in output files: variables, iterations, sizes, units, provenance.

Reads openPMD files of any writer and files of the format plain with h5py, and tailrace's measurements
(inspect_measurements.py). For a directory it lists the series, the measurements, and the jobs of place core that
write there (inspect_jobs.py). Never writes.
"""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tailrace import missing, plain_files, series_files, striped
from tailrace.quantity import counted, format_time, unit_of_time

from . import inspect_forwarder
from . import inspect_jobs as jobs
from . import inspect_measurements as measurements
from . import inspect_missing
from . import inspect_runs as runs
from . import inspect_series as series_of
from . import output
from .inspect_measurements import Unreadable


_PROVENANCE = ("software", "softwareVersion", "date", "machine", "author", "openPMD", "tailraceClient",
               "tailraceConfiguration", "tailraceDurability", "tailraceRun")


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "inspect", help="show the contents of output files",
        description="Shows the variables, iterations, sizes, units and provenance of output files, and the tables of "
                    "statistics (.stats.json); of a directory, its series, statistics and traces, and what a running "
                    "job of place core is doing there. Exit code 1 if one cannot be read.")
    parser.add_argument("paths", nargs="*", metavar="FILE", help="a file, or a directory")
    parser.add_argument("--forward", metavar="HOST:PORT", help="show the state of a running forwarder, instead of "
                                                               "files")
    parser.add_argument("--key", metavar="FILE", help="the key file of the forwarder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run, wrong=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    if arguments.forward:
        return inspect_forwarder.run(arguments.forward, arguments.key, arguments.json)
    if not arguments.paths:
        arguments.wrong("found nothing to inspect, expected FILE ... or --forward HOST:PORT")
    found, failed = [], False
    for text in arguments.paths:
        path = pathlib.Path(text)
        try:
            content = directory(path) if path.is_dir() else file(path)
        except Unreadable as error:
            failed = True
            content = {"path": text, "error": str(error)}
        failed = failed or any("error" in one for one in content.get("measurements", {}).get("statistics", []))
        found.append(content)
        if not arguments.json:
            _print(text, content)
    if arguments.json:
        output.print_json(found)
    return 1 if failed else 0


def _print(path: str, content: dict[str, Any]) -> None:
    if "error" in content:
        output.complain(f"{path}: {content['error']}")
    elif "series" in content:
        _print_directory(content)
    elif "statistics" in content:
        measurements.print_statistics(content)
    elif "trace" in content:
        measurements.print_trace(content)
    else:
        _print_file(content)


def directory(path: pathlib.Path) -> dict[str, Any]:
    """Returns the series of files in a directory, and its measurements."""
    series: dict[str, dict[str, Any]] = {}
    measured: dict[str, list[dict[str, Any]]] = {"statistics": [], "traces": []}
    unfinished, dropped, damaged = [], [], []
    try:
        entries = sorted(path.iterdir())
        objects, lost = striped.objects_in(path)
    except OSError as error:
        raise Unreadable(error.strerror) from error
    for entry in entries:
        if entry.name.endswith(".part"):
            unfinished.append(entry.name)
        if entry.name.endswith(".dropped"):  # has one line for each iteration that `when_full: drop` has dropped
            dropped += [f"{entry.stem} {line}" for line in _text(entry).splitlines()]
        if entry.name.endswith((measurements.STATISTICS, measurements.TRACE)) and entry.is_file():
            kind = "traces" if entry.name.endswith(measurements.TRACE) else "statistics"
            measured[kind].append(measurements.entry(entry))
    plain = plain_files.find(path)
    of_plain = {file for files in plain.values() for file in files.values()}
    found = {name: files for name, files in series_files.find(path, damaged.append).items()
             if not of_plain.issuperset(files.values())}
    for name, files in found.items():
        each = set(files.values())
        size = sum(_size(file, damaged) for file in each)
        series[name] = {"name": name, "iterations": list(files), "files": len(each), "runs": runs.of(files),
                        "pattern": _pattern(name, files), "bytes": size,
                        "missing": missing.sentences(inspect_missing.of(files))}
    series_of.describe(found, list(series.values()))
    for pattern, files in plain.items():
        series[pattern] = {"name": pattern, "iterations": list(files), "files": len(files), "runs": {},
                           "pattern": pattern, "bytes": sum(_size(file, damaged) for file in files.values()),
                           "missing": missing.sentences(inspect_missing.of(files))}
        series_of.describe_plain(files, series[pattern])
    return {"path": str(path), "series": list(series.values()), "unfinished": unfinished, "dropped": dropped,
            "damaged": damaged, "objects": len(objects), "lostObjects": [one.name for one in lost],
            "measurements": measured, "jobs": jobs.of(path)}


def _pattern(name: str, files: Mapping[int, pathlib.Path]) -> str:
    """Returns the pattern by which openPMD's readers open the series, if there is one. Each file of several
    iterations is a series for them."""
    each = set(files.values())
    if len(each) == len(files):
        return f"{name}_%06T.h5"
    return each.pop().name if len(each) == 1 else f"{name}_*.h5"


def _text(path: pathlib.Path) -> str:
    try:
        return striped.read(path).decode(errors="replace")
    except striped.Malformed as error:
        return str(error)


def _size(path: pathlib.Path, damaged: list[str]) -> int:
    """Returns the size of a file. If it is a striped one that is incomplete, adds the reason to `damaged`."""
    try:
        return striped.size(path)
    except striped.Malformed as error:
        damaged.append(str(error))
        return path.stat().st_size


def file(path: pathlib.Path) -> dict[str, Any]:
    """Returns what is in one file."""
    if not path.exists():
        raise Unreadable("no such file or directory")
    if path.name.endswith(".part"):
        raise Unreadable("not finished: its program is still writing it, or has died, and then "
                         f"`tailrace recover {path.parent}` finishes or removes it")
    if path.suffix == ".json":
        return measurements.file(path)
    import h5py  # here, since it imports slowly and the other commands do not need it

    try:
        with striped.readable(path) as source, h5py.File(source, "r") as opened:
            stripes = _stripes(source) if isinstance(source, striped.StripedFile) else None
            return {"path": str(path), "bytes": striped.size(path), "stripes": stripes,
                    "provenance": _provenance(opened), "iterations": _contents(path, opened)}
    except striped.Malformed as error:
        raise Unreadable(str(error)) from error
    except PermissionError as error:
        raise Unreadable("permission denied") from error
    except (OSError, RuntimeError, KeyError) as error:
        raise Unreadable(f"not a readable HDF5 file; truncated, damaged, or something else ({error})") from error


def _stripes(file: striped.StripedFile) -> dict[str, Any]:
    return {"unit": file.head.unit, "first": file.head.first, "objects": [str(one) for one in file.objects]}


def _provenance(opened: Any) -> dict[str, Any]:
    return {name: _plain(opened.attrs[name]) for name in _PROVENANCE if name in opened.attrs}


def _contents(path: pathlib.Path, opened: Any) -> list[dict[str, Any]]:
    if not plain_files.is_plain(opened):
        return [_iteration(number, group, series_of.parts(group)) for number, group in _iterations(opened)]
    numbered = plain_files.number_in(path.name)
    parts = [(name, dataset, dataset) for name, dataset in plain_files.datasets(opened)]
    return [_iteration(numbered[1] if numbered else 0, opened, parts)]


def _iterations(opened: Any) -> Iterator[tuple[int, Any]]:
    data = opened.get("data")
    if "openPMD" not in opened.attrs or data is None:
        raise Unreadable("an HDF5 file, but neither an openPMD one nor one of tailrace's format plain")
    for name in sorted((name for name in data if name.isdigit()), key=int):
        yield int(name), data[name]


def _iteration(number: int, group: Any, parts: Iterable[tuple[str, Any, Any]]) -> dict[str, Any]:
    variables = [_variable(name, part, record) for name, part, record in parts]
    return {"iteration": number, "time": _plain(group.attrs.get("time")), "dt": _plain(group.attrs.get("dt")),
            "timeUnitSI": _plain(group.attrs.get("timeUnitSI")),
            "signals": _plain(group.attrs.get("tailraceSignals", [])),
            "missingClients": _plain(group.attrs.get("tailraceMissingClients", [])),
            "missingUnnamed": int(group.attrs.get("tailraceMissingUnnamed", 0)), "variables": variables}


def _variable(name: str, part: Any, mesh: Any) -> dict[str, Any]:
    extents = getattr(part, "shape", None)
    if extents is None:  # a constant component has no dataset
        extents = part.attrs.get("shape", ())
    dtype = getattr(part, "dtype", None)
    result = {"name": name, "dtype": str(dtype) if dtype is not None else "constant",
              "shape": [int(extent) for extent in extents], "bytes": int(getattr(part, "nbytes", 0))}
    for key, holder, attribute in (("unit", part, "unit"), ("unitSI", part, "unitSI"),
                                   ("unitDimension", mesh, "unitDimension"), ("axisLabels", mesh, "axisLabels"),
                                   ("gridSpacing", mesh, "gridSpacing"), ("globalShape", part, "tailraceGlobalShape"),
                                   ("offset", part, "tailraceOffset"), ("description", mesh, "description")):
        if attribute in holder.attrs:
            result[key] = _plain(holder.attrs[attribute])
    return result


def _plain(value: Any) -> Any:
    """Returns an attribute as JSON has it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _print_directory(content: dict[str, Any]) -> None:
    rows = []
    for one in content["series"]:
        iterations = sorted(one["iterations"])
        rows.append([one["pattern"], one["files"], f"{iterations[0]} … {iterations[-1]}", _times(one),
                     output.size(one["bytes"])])
    if rows:
        output.print_table(("series", "files", "iterations", "time", "size"), rows)
        _print_variables(content["series"])
        _print_total(content)
    else:
        print(f"{content['path']}: no output files")
    for one in content["series"]:
        for line in runs.warnings(one["name"], one["runs"]):
            output.complain(f"{content['path']}: {line}")
        for line in one["missing"]:
            output.complain(f"{content['path']}: {one['name']}: {line}")
    for name in content["unfinished"]:
        print(f"unfinished: {name}")
    for line in content["dropped"]:
        print(line)
    for line in content["damaged"]:
        output.complain(line)
    if content["objects"]:
        print(f"objects of striped files: {content['objects']}")
    for name in content["lostObjects"]:
        print(f"object without a file, which a crash has left: {name}")
    measured = content["measurements"]
    measurements.print_entries(content["path"], measured["statistics"], measured["traces"])
    for one in measured["statistics"]:
        if "error" in one:
            output.complain(f"{content['path']}/{one['file']}: {one['error']}")
    for job in content["jobs"]:
        jobs.show(job)


def _times(one: dict[str, Any]) -> str:
    times = [one[end]["time"] for end in ("first", "last") if end in one]
    if not times or None in times:
        return ""
    return " … ".join(map(_seconds, times))


def _seconds(time: float) -> str:
    """Times of simulations reach from femtoseconds to the age of the universe."""
    if time == 0 or 1e-9 <= abs(time) < 1e7:
        return format_time(time)
    if 1e-18 <= abs(time) < 1e-9:
        return f"{time * 1e12:.3g} ps" if abs(time) >= 1e-12 else f"{time * 1e15:.3g} fs"
    return f"{time:.3g} s"


def _print_variables(series: list[dict[str, Any]]) -> None:
    groups = [(name, variables) for name, variables in series_of.variables(series) if variables]
    for name, variables in groups:
        if len(groups) > 1:
            print(f"variables of {name}:")
        output.print_table(("variable", "type", "shape", "unit"), map(_variable_row, variables))


def _variable_row(variable: dict[str, Any]) -> list[Any]:
    shape = "differs" if variable["shape"] is None else output.shape(variable["shape"])
    return [variable["name"], variable["dtype"], shape, variable["unit"]]


def _print_total(content: dict[str, Any]) -> None:
    files, unfinished = sum(one["files"] for one in content["series"]), len(content["unfinished"])
    size = output.size(sum(one["bytes"] for one in content["series"]))
    print(f"in total: {counted(files, 'file')}, {size}" +
          (f"; {counted(unfinished, 'unfinished file')}" if unfinished else ""))


def _print_file(content: dict[str, Any]) -> None:
    print(f"{content['path']}: {output.size(content['bytes'])}")
    if content["stripes"]:
        objects, first = content["stripes"]["objects"], content["stripes"]["first"]
        print(f"  in stripes of {output.size(content['stripes']['unit'])}, beginning with object {first}: "
              f"{', '.join(objects)}")
    for name, value in content["provenance"].items():
        print(f"  {name}: {value}")
    for iteration in content["iterations"]:
        unit = iteration["timeUnitSI"]
        name = "" if unit is None else unit_of_time(unit)
        said = f" {name}" if name.isalpha() else f" (in units of {name})" if name else ""
        print(f"iteration {iteration['iteration']}: time {iteration['time']}{said}")
        if iteration["signals"]:
            print(f"  signals: {', '.join(iteration['signals'])}")
        missing = [f"client {number}" for number in iteration["missingClients"]]
        if iteration["missingUnnamed"]:
            missing.append(f"{counted(iteration['missingUnnamed'], 'client')} that never came")
        if missing:
            print(f"  incomplete: without the data of {', '.join(missing)}, as far as they were not written before")
        output.print_table(("variable", "type", "shape", "unit", "size", "description"),
                           map(_row, iteration["variables"]))


def _row(variable: dict[str, Any]) -> list[Any]:
    unit = variable.get("unit", variable.get("unitSI", ""))
    return [variable["name"], variable["dtype"], output.shape(variable["shape"]), unit,
            output.size(variable["bytes"]), variable.get("description", "")]
