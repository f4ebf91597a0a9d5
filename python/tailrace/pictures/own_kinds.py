"""The kinds of files that tailrace itself writes during a run: traces, and statistics."""

from __future__ import annotations

import pathlib
from collections.abc import Hashable, Sequence
from typing import Any

from matplotlib.figure import Figure

from tailrace import files, iterations

from . import busy, sizes, tables, timeline, trace
from .fault import PictureError
from .kind import Kind, Window

SHIELD_TIME = ("PST, potential shield time", "from handing a block over until its memory is needed again")


class Trace(Kind):
    """A trace. Those of one process, the program's and the library's, become one timeline."""

    found = "a trace"
    expected = "a trace"
    captions = {"timeline": "The program is at the top; below it, for each variable, its blocks on their way and its "
                            "potential shield times. A hatched box after a PST is the time for which the program "
                            "needed memory that was not written yet."}
    needs = {"timeline": "a trace"}
    glossary = (SHIELD_TIME,)

    def recognises(self, document: Any) -> bool:
        return trace.is_trace(document)

    def read(self, path: pathlib.Path, document: Any) -> Any:
        return document

    def group(self, data: Any) -> Hashable:
        return trace.process(data)

    def draw(self, picture: str, files: Sequence[tuple[pathlib.Path, Any]], window: Window) -> tuple[Figure, str]:
        run = trace.read(files)
        return timeline.draw(run, window.begin, window.end), timeline.alt(run)

    def header(self, data: Any) -> Any:
        return data.get("otherData")


class Statistics(Kind):
    """Statistics of a client: its iterations, and its files."""

    found = "statistics"
    expected = "statistics of tailrace"
    captions = {"busy": "A bar is the share of the time until the next iteration in which the writer was busy: dark "
                        "while bytes were on their way to storage, hatched while only filters worked. The space "
                        "above the bars is spare time.",
                "sizes": "Hatched: how many requests there were of each size; dark: how many accesses of storage "
                         "they became. The further the dark bars are to the right of the hatched ones, the more was "
                         "merged."}
    needs = {"busy": "statistics of tailrace, of two iterations at least",
             "sizes": "statistics of tailrace, with requests for files"}

    def recognises(self, document: Any) -> bool:
        return isinstance(document, dict) and "tailrace_stats" in document

    def read(self, path: pathlib.Path, document: Any) -> busy.Run:
        """Reads the iterations and files, if there is something to draw."""
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
            raise PictureError(path, f"iterations: found {len(found)}, of which none was followed by another; "
                                     "expected two at least")
        return run

    def default(self, data: busy.Run) -> list[str]:
        # Merging in files of iterations is drawn on request only.
        raw = any(one.kind != "iterations" for one in sizes.shown(data.files))
        return [*(["busy"] if data.passed else []), *(["sizes"] if raw else [])]

    def possible(self, data: busy.Run) -> set[str]:
        return {*self.default(data), *(["sizes"] if sizes.shown(data.files) else [])}

    def draw(self, picture: str, files: Sequence[tuple[pathlib.Path, Any]], window: Window) -> tuple[Figure, str]:
        run = files[0][1]
        if picture == "busy":
            return busy.draw(run), busy.alt(run)
        return sizes.draw(run.name, run.files), sizes.alt(run.files)

    def after(self, data: busy.Run) -> list[str]:
        return [*([tables.of_iterations(data)] if data.passed else []),
                *([tables.of_files(data.files)] if data.files else [])]


KINDS = (Trace(), Statistics())
