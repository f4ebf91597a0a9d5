"""The kinds of files that benchmarks write: results, write times of processes, and studies."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from tailrace import quantity
from tailrace.pictures import frame
from tailrace.pictures.fault import PictureError
from tailrace.pictures.frame import text
from tailrace.pictures.kind import Kind, Window
from tailrace.pictures.own_kinds import SHIELD_TIME

from ..bench import result as result_file
from . import ablation, curve, jitter, numbers, peers, requests, schedulers, tables, tiles, words, write_times

_Files = Sequence[tuple[pathlib.Path, Any]]


class Result(Kind):
    """A result of `tailrace bench pattern` or `make bench-peers`."""

    found = "a result file"
    expected = "a result file (of `tailrace bench pattern --json` or `make bench-peers`)"
    captions = {"curve": "Left of C/W = 1 the storage bounds the pipeline, right of it the computation. Points are "
                         "measured, lines are computed; the nearer to the broad grey line, the less is left to gain.",
                "ablation": "Each rung changes one thing; dark bars are tailrace's default, and the dashed line is "
                            "the limit.",
                "peers": "The one nearest to the limit is at the top; dark bars are tailrace's. Scales are the same "
                         "along a row."}
    needs = {"curve": 'a result file with "points"', "ablation": 'a result file with "ablation"',
             "peers": 'a result file with "points"'}
    glossary = (("C, W, n", "compute time and write time of an iteration; the number of iterations"),
                ("limit", f"{words.LIMIT}: no schedule of n iterations on N_io devices takes less time"),
                ("OO, output overlap", "(OT − AT)/OT: the share of the synchronous output time that is no longer "
                                       "waited for"),
                ("slow-down", "of the computation, against the same one without output"), SHIELD_TIME,
                ("off", "(measured − predicted) / predicted"))

    def recognises(self, document: Any) -> bool:
        return isinstance(document, dict) and "tailrace_result" in document

    def read(self, path: pathlib.Path, document: Any) -> dict[str, Any]:
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

    def default(self, data: Any) -> list[str]:
        points = data.get("points") or []
        rungs = ["ablation"] if data.get("ablation") else []
        if not points or (rungs and not set(numbers.writers(data)) - {"sync"}):
            return rungs
        # One point is no curve.
        sweep = data["kind"] == "pattern" and len(points) > 1
        return ["curve" if sweep else "peers", *rungs]

    def possible(self, data: Any) -> set[str]:
        # Points can be drawn either way on request.
        return {*self.default(data), *(("curve", "peers") if data.get("points") else ())}

    def draw(self, picture: str, files: _Files, window: Window) -> tuple[Figure, str]:
        drawer = {"curve": curve, "ablation": ablation, "peers": peers}[picture]
        return drawer.draw(files[0][1]), drawer.alt(files[0][1])

    def sentences(self, data: Any, described: list[str]) -> list[str]:
        return words.summary(data)

    def before(self, data: Any) -> list[str]:
        return [_facts(data)]

    def after(self, data: Any) -> list[str]:
        copying = words.copying(data)
        parts = [f"<h3>The copy</h3>{''.join(f'<p>{text(one)}</p>' for one in copying)}"] if copying else []
        parts += ["<h3>Figures</h3>", *tables.of_result(data)]
        method = (data.get("statistics") or {}).get("method")
        return parts + ([f'<p class="about">Interval: {text(method)}.</p>'] if method else [])


@dataclass(frozen=True)
class Times:
    """Write times, and the study of jitter to which they belong, if any."""

    runs: list[write_times.Run]
    study: jitter.Study | None = None


class WriteTimes(Kind):
    """Write times of processes, of `tailrace bench jitter` or of any program."""

    found = "write times"
    expected = f"write times of processes (CSV or JSON with {write_times.EXPECTED})"
    suffixes = (".csv", ".tsv", ".txt")
    captions = {"tiles": "A tile is a run, and a line in it a process, as long as its write time; white is time "
                         "spent waiting for the slowest. The darker a tile, the lower its throughput."}
    needs = {"tiles": "a file of per-process write times"}

    def recognises(self, document: Any) -> bool:
        return isinstance(document, list) or (isinstance(document, dict) and "write_times" in document)

    def read(self, path: pathlib.Path, document: Any) -> Times:
        study = jitter.check(path, document) if jitter.is_study(document) else None
        return Times(write_times.from_json(path, document), study)

    def read_text(self, path: pathlib.Path, text: str) -> Times:
        return Times(write_times.from_csv(path, text))

    def draw(self, picture: str, files: _Files, window: Window) -> tuple[Figure, str]:
        runs = files[0][1].runs
        return tiles.draw(runs), tiles.alt(runs)

    def header(self, data: Times) -> Any:
        return data.study

    def sentences(self, data: Times, described: list[str]) -> list[str]:
        return (jitter.sentences(data.study) if data.study else []) + described

    def before(self, data: Times) -> list[str]:
        return [jitter.facts(data.study), jitter.table(data.study)] if data.study else []

    def after(self, data: Times) -> list[str]:
        return [tables.of_times(data.runs)]


class Requests(Kind):
    """The study of small requests."""

    found = "a study of small requests"
    expected = "a study of `tailrace bench small`"
    captions = {"requests": "A row is a way to write the same pieces, from the least to the most of its runs; dark "
                            "bars are tailrace's. Left of the dashed line is faster than with the compactor off."}
    needs = {"requests": "a result of `tailrace bench small`"}

    def recognises(self, document: Any) -> bool:
        return isinstance(document, dict) and "tailrace_small" in document

    def read(self, path: pathlib.Path, document: Any) -> Any:
        return requests.check(path, document)

    def draw(self, picture: str, files: _Files, window: Window) -> tuple[Figure, str]:
        return requests.draw(files[0][1]), requests.alt(files[0][1])

    def sentences(self, data: Any, described: list[str]) -> list[str]:
        return requests.sentences(data)


class Schedulers(Kind):
    """The study of forwarders' schedulers."""

    found = "a study of schedulers"
    expected = "one of `tailrace bench forward --schedulers`"
    captions = {"schedulers": "A row is a way to order requests; its bar is the time of all processes, with the "
                              "interval of confidence. Left of the dashed line is faster than without forwarding."}
    needs = {"schedulers": "a result of `tailrace bench forward --schedulers`"}

    def recognises(self, document: Any) -> bool:
        return isinstance(document, dict) and "tailrace_schedulers" in document

    def read(self, path: pathlib.Path, document: Any) -> Any:
        return schedulers.check(path, document)

    def draw(self, picture: str, files: _Files, window: Window) -> tuple[Figure, str]:
        return schedulers.draw(files[0][1]), schedulers.alt(files[0][1])


RESULT, WRITE_TIMES, REQUESTS, SCHEDULERS = Result(), WriteTimes(), Requests(), Schedulers()
KINDS = (RESULT, REQUESTS, SCHEDULERS, WRITE_TIMES)


def _facts(result: dict[str, Any]) -> str:
    machine, settings = result.get("machine") or {}, result["settings"]
    memory = machine.get("memory_bytes")
    parts = [machine.get("cpu"), f"{machine['cpus']} CPUs" if machine.get("cpus") else None,
             quantity.format_size(memory) if memory else None, machine.get("os"), machine.get("kernel")]
    storage = "; ".join(f"{one['directory']}: {one['filesystem']}, page cache {one['page_cache']}"
                        for one in result.get("storage") or [])
    work = [f"{settings['iterations']} iterations of {quantity.format_size(settings['bytes'])}",
            f"{settings['variables']} variables" if (settings.get("variables") or 1) > 1 else None,
            f"computing: {settings['compute']}" if settings.get("compute") else None,
            f"{settings['threads']} threads" if (settings.get("threads") or 1) > 1 else None,
            settings.get("memory"), f"queue depth {settings['queue_depth']}" if settings.get("queue_depth") else None,
            f"{settings['devices']} devices" if (settings.get("devices") or 1) > 1 else None]
    warmup = f", {settings['warmup']} to warm up" if settings.get("warmup") else ""
    return frame.facts([("command", result.get("command")), ("made", result.get("created")),
                         ("tailrace", result.get("tailrace")), ("machine", _listed(parts)), ("storage", storage),
                         ("work", _listed(work)), ("runs", f"{settings['repeats']} in turn{warmup}")])


def _listed(parts: Sequence[object]) -> str:
    return ", ".join(str(part) for part in parts if part)
