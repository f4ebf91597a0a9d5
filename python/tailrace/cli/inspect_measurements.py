"""`tailrace inspect` for the files that a configuration's `measurements` asks for: statistics and traces.

It reads <name>_c<client>.stats.json completely and checks that it has this version. Of a trace it only counts the
events; `tailrace report` draws it. Never writes. docs/formats/measurements.md has the formats.
"""

from __future__ import annotations

import collections
import json
import pathlib
from typing import Any

from tailrace import files, iterations
from tailrace.quantity import counted, format_size, format_time, three

from . import inspect_files, inspect_iterations, output

STATISTICS = ".stats.json"
TRACE = ".trace.json"
VERSION = 1

_TOTALS = ("blocks_accepted", "blocks_written", "blocks_failed", "blocks_dropped", "blocks_written_through",
           "bytes_accepted", "bytes_written", "iterations_ended", "iterations_published", "iterations_dropped",
           "iterations_failed", "signals", "failures", "failures_unseen", "memory_budget", "memory_peak",
           "requests_merged", "requests_peak", "transfers", "transfers_direct", "transfers_again",
           "transfer_fallbacks", "seconds_copying", "seconds_waiting_memory", "seconds_waiting_ticket",
           "seconds_writing")
_COUNTS = ("blocks_accepted", "blocks_written", "blocks_failed", "blocks_refused", "blocks_written_through",
           "blocks_merged", "bytes_accepted", "bytes_written")
_FILTERED = ("chunks_filtered", "chunks_relaxed", "chunks_skipped", "bytes_filtered", "bytes_stored")
_SPARED = ("bytes_overwritten", "bytes_from_memory")
_COURSE = {"handover": "hand-over", "queued": "queued", "filtering": "filtering", "writing": "writing",
           "waiting": "waiting"}
_TIMES = ("count", "total", "mean", "p50", "p90", "p99", "most")


class Unreadable(Exception):
    """Says why a path cannot be inspected."""


def file(path: pathlib.Path) -> dict[str, Any]:
    """Returns what a JSON file has: {"statistics": …} or {"trace": …}."""
    document = _json(path)
    if isinstance(document, dict) and "tailrace_stats" in document:
        _check(document)
        return {"path": str(path), "statistics": document}
    if isinstance(document, dict) and "traceEvents" in document:
        return {"path": str(path), "trace": _trace(document)}
    if isinstance(document, dict) and "tailrace_result" in document:
        raise Unreadable("a result file of `tailrace bench`, no statistics; `tailrace plot` and `tailrace report` "
                         "show it")
    raise Unreadable('neither statistics nor a trace of tailrace: expected "tailrace_stats" or "traceEvents" at the '
                     "top")


def entry(path: pathlib.Path) -> dict[str, Any]:
    """Returns one line of a directory's list. Traces can be large, so they are not opened."""
    if path.name.endswith(TRACE):
        return {"file": path.name, "bytes": path.stat().st_size}
    try:
        totals = file(path)["statistics"]["totals"]
    except (KeyError, Unreadable) as error:
        return {"file": path.name, "error": str(error) if isinstance(error, Unreadable) else "a trace, no statistics"}
    return {"file": path.name, **{name: totals[name] for name in ("blocks_written", "bytes_written", "failures",
                                                                    "iterations_published", "seconds_writing")},
            "seconds_waiting": totals["seconds_waiting_memory"] + totals["seconds_waiting_ticket"]}


def print_entries(directory: str, statistics: list[dict[str, Any]], traces: list[dict[str, Any]]) -> None:
    """Prints the lines of a directory's list."""
    for one in statistics:
        if "error" in one:
            print(f"statistics: {one['file']}: cannot be read")
            continue
        print(f"statistics: {one['file']}: {counted(one['blocks_written'], 'block')}, "
              f"{format_size(one['bytes_written'])} written in {format_time(one['seconds_writing'])}, "
              f"{format_time(one['seconds_waiting'])} waited, {counted(one['failures'], 'failure')}")
    for one in traces:
        path = pathlib.Path(directory) / one["file"]
        print(f"trace: {one['file']}: {format_size(one['bytes'])}; for a picture: tailrace report {path}")


def print_statistics(content: dict[str, Any]) -> None:
    """Prints the tables of one statistics file."""
    document = content["statistics"]
    print(f"{content['path']}: {document['name']}, client {document['client']}, tailrace {document['tailrace']}")
    print(f"  {document['description']}")
    output.print_table(("total", ""), _total_rows(document["totals"]))
    print()
    output.print_table(("variable", "blocks", "written", "failed", "refused", "through", "merged", "size"),
                       map(_count_row, document["variables"]))
    print()
    filtered = [_filtered_row(variable) for variable in document["variables"] if variable.get("chunks_filtered")]
    if filtered:
        output.print_table(("variable", "chunks", "relaxed", "skipped", "before", "stored", "ratio"), filtered)
        print()
    rows = [row for variable in document["variables"] for row in _time_rows(variable)]
    if rows:
        output.print_table(("variable", "time", "times", "p50", "p90", "p99", "most", "total"), rows)
    if document.get("files"):
        print()
        inspect_files.show(files.read(document["files"]))
    if document.get("iterations"):
        print()
        inspect_iterations.show(iterations.read(document["iterations"]), iterations.whose(document["description"]))


def print_trace(content: dict[str, Any]) -> None:
    """Prints a few lines on one trace."""
    trace = content["trace"]
    print(f"{content['path']}: trace of {trace['program'] or 'a program'}, {format_time(trace['seconds'])}, "
          f"{trace['events']} events" + (f", {trace['dropped_events']} dropped" if trace["dropped_events"] else ""))
    if trace["description"]:
        print(f"  {trace['description']}")
    output.print_table(("kind", "events"), list(trace["categories"].items()))
    print(f"for a picture: tailrace report {content['path']}")
    print("in a browser: load it into Perfetto or chrome://tracing")


def _total_rows(totals: dict[str, Any]) -> list[tuple[str, str]]:
    # Counts that are as expected, or zero, get no line.
    blocks = _listed(totals, "blocks", {"accepted": "accepted", "written": "written", "failed": "failed",
                                        "dropped": "dropped", "written_through": "written through"})
    iterations = _listed(totals, "iterations", {"ended": "ended", "published": "published", "dropped": "dropped",
                                                "failed": "failed"})
    rows = [("blocks", blocks), ("bytes", f"{format_size(totals['bytes_written'])} written of "
                                 f"{format_size(totals['bytes_accepted'])} accepted"),
            ("iterations", iterations),
            ("memory", f"{format_size(totals['memory_peak'])} at most, of {format_size(totals['memory_budget'])}"),
            ("transfers", f"{totals['transfers']}, {totals['transfers_direct']} past the page cache"
             + (f", {totals['transfers_again']} continued" if totals["transfers_again"] else "")
             + (f", {totals['transfer_fallbacks']} refused there" if totals["transfer_fallbacks"] else "")),
            ("requests", f"{totals['requests_peak']} at once at most, {totals['requests_merged']} merged"),
            ("copying", format_time(totals["seconds_copying"])),
            ("waiting", f"{format_time(totals['seconds_waiting_memory'])} for memory, "
             f"{format_time(totals['seconds_waiting_ticket'])} for requests to end"),
            ("writing", format_time(totals["seconds_writing"]))]
    if "iterations_peak" in totals:
        rows.append(("unfinished", f"{totals['iterations_peak']} iterations at once at most, of "
                     f"{totals['iterations_limit']}"))
    if any(totals.get(name) for name in _SPARED):
        rows.append(("no storage", f"{format_size(totals['bytes_overwritten'])} overwritten before they left, "
                     f"{format_size(totals['bytes_from_memory'])} read from memory"))
    if totals.get("bytes_sieved"):
        rows.append(("sieving", f"{format_size(totals['bytes_sieved'])} read for nothing"))
    if totals["signals"]:
        rows.append(("signals", str(totals["signals"])))
    if totals["failures"]:
        untold = totals["failures_unseen"]
        rows.append(("failures", f"{totals['failures']}" + (f", {untold} untold before close" if untold else "")))
    return rows


def _listed(totals: dict[str, Any], noun: str, words: dict[str, str]) -> str:
    shown = ("accepted", "written", "ended", "published")
    return ", ".join(f"{totals[f'{noun}_{key}']} {word}" for key, word in words.items()
                     if key in shown or totals[f"{noun}_{key}"])


def _count_row(variable: dict[str, Any]) -> list[Any]:
    return [variable["name"], *(variable[f"blocks_{key}"] for key in ("accepted", "written", "failed", "refused",
                                                                        "written_through", "merged")),
            format_size(variable["bytes_written"])]


def _filtered_row(variable: dict[str, Any]) -> list[Any]:
    before, stored = variable["bytes_filtered"], variable["bytes_stored"]
    return [variable["name"], *(variable[f"chunks_{key}"] for key in ("filtered", "relaxed", "skipped")),
            format_size(before), format_size(stored), three(before / stored) if stored else "-"]


def _time_rows(variable: dict[str, Any]) -> list[list[Any]]:
    return [[variable["name"], word, variable[key]["count"],
             *(format_time(variable[key][part]) for part in ("p50", "p90", "p99", "most", "total"))]
            for key, word in _COURSE.items() if key in variable and variable[key]["count"]]


def _json(path: pathlib.Path) -> Any:
    try:
        return json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise Unreadable((error.strerror or str(error)).lower()) from error
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start}: found no UTF-8, expected a JSON text") from error
    except json.JSONDecodeError as error:
        raise Unreadable(f"truncated or damaged: line {error.lineno}, column {error.colno}: expected JSON "
                         f"({error.msg})") from error
    except RecursionError as error:
        raise Unreadable("nested too deeply to be statistics or a trace of tailrace") from error


def _check(document: dict[str, Any]) -> None:
    """Raises unless everything that is printed exists."""
    version = document["tailrace_stats"]
    if version != VERSION or isinstance(version, bool):
        raise Unreadable(f"tailrace_stats: found version {version!r}, expected {VERSION}; this tailrace cannot read "
                         "it")
    for name in ("name", "tailrace", "description"):
        if not isinstance(document.get(name), str):
            raise Unreadable(f"{name}: found {_found(document, name)}, expected a text")
    _numbers(document, ("client",), "")
    totals = _part(document, "totals", dict, "")
    _numbers(totals, _TOTALS, "totals.")
    if "accesses" in totals:  # an earlier tailrace does not report it
        _numbers(totals, ("accesses", *_SPARED, "bytes_sieved"), "totals.")
    if "iterations_limit" in totals or "iterations_peak" in totals:  # an earlier tailrace does not report them
        _numbers(totals, ("iterations_limit", "iterations_peak"), "totals.")
    for number, variable in enumerate(_part(document, "variables", list, "")):
        where = f"variables[{number}]"
        if not isinstance(variable, dict) or not isinstance(variable.get("name"), str):
            raise Unreadable(f'{where}: found no variable, expected an object with a "name"')
        _numbers(variable, _COUNTS, f"{where}.")
        if "chunks_filtered" in variable:  # an earlier tailrace does not report them
            _numbers(variable, _FILTERED, f"{where}.")
        if "blocks_cached" in variable:
            _numbers(variable, ("blocks_cached",), f"{where}.")
        for times in _COURSE:
            if times == "filtering" and times not in variable:
                continue
            _numbers(_part(variable, times, dict, f"{where}."), _TIMES, f"{where}.{times}.")
    for name, read in (("iterations", iterations.read), ("files", files.read)):
        if name not in document:  # an earlier tailrace does not report it
            continue
        try:
            read(document[name])
        except (iterations.Malformed, files.Malformed) as error:
            raise Unreadable(str(error)) from error


def _part(holder: dict[str, Any], name: str, kind: type, where: str) -> Any:
    if not isinstance(holder.get(name), kind):
        expected = "an object" if kind is dict else "a list"
        raise Unreadable(f"{where}{name}: found {_found(holder, name)}, expected {expected}")
    return holder[name]


def _numbers(holder: dict[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in names:
        value = holder.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e30:
            raise Unreadable(f"{where}{name}: found {_found(holder, name)}, expected a number of 0 or more")


def _found(holder: dict[str, Any], name: str) -> str:
    return json.dumps(holder[name])[:40] if name in holder else "nothing"


def _trace(document: dict[str, Any]) -> dict[str, Any]:
    about, events = document.get("otherData"), document["traceEvents"]
    version = about.get("tailrace_trace") if isinstance(about, dict) else None
    if not isinstance(about, dict) or version is None:
        raise Unreadable("otherData.tailrace_trace: found nothing: a trace, but not one of tailrace")
    if version != VERSION or isinstance(version, bool):
        raise Unreadable(f"otherData.tailrace_trace: found version {version!r}, expected {VERSION}; this tailrace "
                         "cannot read it")
    if not isinstance(events, list):
        raise Unreadable(f"traceEvents: found {_found(document, 'traceEvents')}, expected a list")
    categories: collections.Counter[str] = collections.Counter()
    times = []
    for number, event in enumerate(events):
        if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
            raise Unreadable(f'traceEvents[{number}]: found no event, expected an object with "ph"')
        if event["ph"] in ("X", "b"):
            categories[str(event.get("cat"))] += 1
        if event["ph"] in ("X", "b", "e"):
            _numbers(event, ("ts", "dur") if event["ph"] == "X" else ("ts",), f"traceEvents[{number}].")
            times += [event["ts"], event["ts"] + event.get("dur", 0)]
    _numbers(about, ("dropped_events",), "otherData.")
    return {"program": str(about.get("program") or ""), "client": about.get("client"),
            "description": str(about.get("description") or ""), "events": len(events),
            "dropped_events": about["dropped_events"], "categories": dict(categories),
            "seconds": (max(times) - min(times)) * 1e-6 if times else 0.0}
