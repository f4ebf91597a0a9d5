"""The figures behind the pictures of a run as HTML tables: for readers who want the values, or cannot see pictures.

Makes text, and escapes all words from files. A dash stands for what was not measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace import quantity
from tailrace.files import File

from .busy import Run as Iterations
from .frame import row, table

_NONE = "–"


def of_files(files: Sequence[File]) -> str:
    """Returns the figures of a picture of sizes."""
    rows = []
    for one in files:
        calls = [one.writes, quantity.format_size(one.bytes_written), one.reads, quantity.format_size(one.bytes_read)]
        made = [of for sizes in (one.before, one.after) for of in (sizes.count, quantity.format_size(sizes.mean))]
        rows.append(row(one.name, [*([_NONE] * 4 if one.kind == "iterations" else calls), *made, one.requests_merged,
                                   quantity.format_size(one.bytes_overwritten),
                                   quantity.format_size(one.bytes_from_memory),
                                   quantity.format_size(one.bytes_sieved)]))
    return table(["file", "writes", "written", "reads", "read", "requests", "mean", "accesses", "mean", "merged",
                  "overwritten", "from memory", "for nothing"], rows,
                 "Of each file: this client's calls; then what the writer did while this client had the file open: "
                 "requests and their sizes, the accesses of storage into which they were merged, bytes that were "
                 "overwritten before they left, bytes of reads that came from memory, and bytes that were read for "
                 "nothing, between those that reads wanted")


def of_iterations(run: Iterations) -> str:
    """Returns the figures of a picture of how busy the writer was."""
    rows = []
    for one in run.iterations:
        share = _NONE if one.share is None else f"{100 * one.share:.1f}"
        period = _NONE if one.period is None else quantity.three(one.period)
        sizes = [quantity.format_size(one.bytes_taken), quantity.format_size(one.bytes_stored)]
        cells = [period, share, quantity.three(one.writing), quantity.three(one.filtering), *sizes,
                 one.chunks_relaxed, one.chunks_skipped, _NONE if one.late is None else quantity.three(one.late),
                 quantity.three(one.waited)]
        rows.append(row(one.number, cells))
    return table(["iteration", "period, s", "busy, %", "writing, s", "filters, s", "taken", "stored", "relaxed",
                  "skipped", "published after, s", "waited, s"], rows,
                 "Of the latest iterations: the time until the next began, how much of it was busy, what came and "
                 "was stored, chunks with less effort, when it was published after its end, and how long the program "
                 "waited for memory")
