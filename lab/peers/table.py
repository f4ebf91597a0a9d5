#!/usr/bin/env python3
"""The comparison as Markdown: `python lab/peers/table.py RESULT.json` prints it from the file that run.py wrote.

It has one table for each C/W, then a description of the rows and which one is ahead. It reports every measurement,
good or bad, and computes only what its sentences need.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from tailrace_lab.bench import result
from tailrace_lab.bench.result import Result

_MIB = 1 << 20
_OURS = "tailrace alloc"
_HEAD = ("", "total, s", "least … most", "total / limit", "waiting, ms an iteration", "computing slowed, %",
         "peak memory, MiB", "lines of user code")

Series = dict[str, Any]


def markdown(of: Result) -> str:
    """Returns the whole section."""
    blocks = [_basis(of)]
    blocks += [_table(point, int(of.settings["iterations"])) for point in of.points]
    blocks += [_rules(), _who(of), "\n".join(verdict(of))]
    return "\n\n".join(blocks) + "\n"


def _basis(of: Result) -> str:
    document, settings = of.document, of.settings
    machine, storage = document["machine"], document["storage"][0]
    return (f"`{document['command']}`, {document['created'][:10]}, tailrace {document['tailrace']}: "
            f"{settings['iterations']} iterations of {settings['bytes'] / _MIB:g} MiB, median of "
            f"{settings['repeats']} rounds in turn, after {settings['warmup']} to warm up, kernel "
            f"`{settings['compute']}` on {settings['threads']} thread(s).\n"
            f"Machine: {machine['cpu']}, {machine['cpus']} CPUs, {machine['memory_bytes'] / (1 << 30):.0f} GiB, "
            f"{machine['os']}, Linux {machine['kernel']}; {storage['filesystem']}.")


def _table(point: dict[str, Any], iterations: int) -> str:
    c, w, limit = (point[key] for key in ("compute_seconds", "write_seconds", "limit_seconds"))
    ratio = f"{c / w:.2f}" if w > 0 else "∞"
    lines = [f"**C/W = {ratio}** (C {1e3 * c:.1f} ms, W {1e3 * w:.1f} ms; limit "
             f"C + W + (n − 1)·max(C, W) = {limit:.3f} s)", "",
             "| " + " | ".join(_HEAD) + " |", "|---" + "|---:" * (len(_HEAD) - 1) + "|"]
    lines += ["| " + " | ".join(_cells(title, series, iterations)) + " |"
              for title, series in point["series"].items()]
    return "\n".join(lines)


def _cells(title: str, series: Series, iterations: int) -> list[str]:
    lines = f"{series['user_lines']} {series.get('user_language', '')}".strip() if series.get("user_lines") else "–"
    if series.get("error"):
        why = series["error"].splitlines()[0].replace("|", "\\|")
        return [title, f"could not run: {why}", *["–"] * (len(_HEAD) - 3), lines]
    summary = series["summary"]
    total = summary["total"]

    def median(name: str, form: str, factor: float = 1) -> str:
        return form.format(factor * summary[name]["median"]) if name in summary else "–"

    writes = title != "none"
    return [title, f"{total['median']:.3f}", f"{total['least']:.3f} … {total['most']:.3f}",
            median("to_limit", "{:.2f}"), median("waiting", "{:.2f}", 1e3 / iterations) if writes else "–",
            median("slowdown", "{:+.1f}", 100) if writes else "–", median("peak_memory", "{:.0f}", 1 / _MIB), lines]


def _rules() -> str:
    return ("Every row computes the same with the same kernel and writes the same bytes, marked in 64 places, as one "
            "process. The total ends when all bytes are on the device: who writes through the page cache (sync-hdf5, "
            "posix-aio, the peers) has its files fdatasync'ed inside the total, the peers once at the end, which is "
            "the kindest to them. The limit is one for all, with no copy in it. `waiting` is all time in calls for "
            "output, with the last flush; `computing slowed` is against `none`; the peak memory is the process's, "
            "with the interpreter where the peer is a Python program (below). Lines of user code are those a program "
            "adds (`user code begin` … `end` in lab/peers), tailrace's with its configuration.")


def _who(of: Result) -> str:
    lines = []
    for title, series in of.points[0]["series"].items() if of.points else []:
        for run in series.get("runs", [])[:1]:
            base = run.get("runtime_memory_bytes")
            beside = f" ({base / _MIB:.0f} MiB of memory before its first block)" if base else ""
            if run.get("description"):
                lines.append(f"- {title}: {' '.join(run['description'].split())}{beside}")
    return "\n".join(lines)


def verdict(of: Result) -> list[str]:
    """Says whether tailrace is ahead of every other row, in total time and in waiting, and where it is not."""
    said = []
    for name, what in (("total", "total time"), ("waiting", "waiting")):
        behind, compared = [], 0
        for point in of.points:
            ours = point["series"].get(_OURS, {})
            for title, series in point["series"].items():
                others = title != "none" and not title.startswith("tailrace")
                if not others or "summary" not in series or "summary" not in ours:
                    continue
                compared += 1
                theirs, own = series["summary"][name]["median"], ours["summary"][name]["median"]
                if theirs <= own:
                    behind.append(f"{title} at C/W {point['c_over_w_asked']:g} ({theirs:.3f} s against {own:.3f} s)")
        if compared:
            said.append(f"- {what}: `{_OURS}` is " + (f"not ahead of {', '.join(behind)}." if behind else
                                                      f"ahead of all others in all {compared} comparisons."))
    return said


def main(arguments: list[str]) -> int:
    """Prints the file's table; returns its exit code."""
    if len(arguments) != 1:
        print("usage: table.py RESULT.json", file=sys.stderr)
        return 2
    try:
        found = result.load(pathlib.Path(arguments[0]))
    except result.ResultError as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 1
    print(markdown(found), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
