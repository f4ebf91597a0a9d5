"""`make bench-check`: compares the ratios of a `make bench` with those of docs/figures, and names what became worse.

The ratios are the cells of the pages' tables. Times are not compared, as machines differ, except with another time of
the same run.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections import Counter
from collections.abc import Sequence

from . import documents
from .compare import ALIKE, ALIKE_SHARES, ALIKE_WITHOUT_SPREAD, Finding, Verdict, compared
from .documents import SOURCES, FiguresError, Value
from .markdown import caption
from .tables import TABLES, Table

_SAID = (("not measured this time", Verdict.MISSING), ("not stored", Verdict.NEW),
         ("of other programs, changed; perhaps so did the machine", Verdict.OTHERS), ("better", Verdict.BETTER),
         ("WORSE", Verdict.WORSE))
_NOT_COMPARED = (Verdict.MISSING, Verdict.NEW)


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="bench-check", description=f"Compares the ratios of results with those in {documents.FOLDER}. One is "
        "worse or better if each of the two values lies outside of the other's spread, and if they differ by more "
        f"than {100 * ALIKE:.0f} % ({100 * ALIKE_WITHOUT_SPREAD:.0f} % where one has no spread; shares: by more than "
        f"{100 * ALIKE_SHARES:.0f} points). Exit code 1 if something of tailrace became worse, 2 if a result cannot "
        "be compared.")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="DIR", required=True,
                        help="the results of `make bench`, or of other benchmarks with --json")
    parser.add_argument("--only", type=_names, metavar="NAME,…", default=tuple(SOURCES),
                        help=f"only these results: {', '.join(SOURCES)}")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(), metavar="DIR",
                        help="the repository (default: this directory)")
    arguments = parser.parse_args(words)
    try:
        findings = check(arguments.root / documents.FOLDER, arguments.source, arguments.only)
    except (FiguresError, OSError) as error:
        print(f"bench-check: {error}", file=sys.stderr)
        return 2
    return 1 if any(one.verdict is Verdict.WORSE for one in findings) else 0


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in SOURCES:
            raise argparse.ArgumentTypeError(f"found {name!r}, expected some of {', '.join(SOURCES)}")
    return names


def check(stored: pathlib.Path, folder: pathlib.Path, only: Sequence[str]) -> list[Finding]:
    """Compares the results in a folder with the stored ones, and prints what it finds; raises FiguresError."""
    now = {name: documents.published(folder, name) for name in only if (folder / f"{name}.json").exists()}
    if not now:
        raise FiguresError(f"{folder}: found no results, expected some of {', '.join(only)} (.json)")
    before = {name: documents.published(stored, name) for name in now}
    tables = [table for table in TABLES.values() if all(name in now for name in table.sources)]
    findings = [one for table in tables for one in _differences(table, before, now)]
    for title, verdict in _SAID:
        _tell(title, [one for one in findings if one.verdict is verdict], before, now)
    left_out = [name for name in only if name not in now]
    if left_out:
        print(f"\nno results of {', '.join(left_out)}")
    _conclude(findings, len(now))
    if all(one.verdict in _NOT_COMPARED for one in findings):
        raise FiguresError(f"{folder}: found no ratio that is stored, too, so nothing was compared")
    return findings


def _differences(table: Table, before: dict[str, Value], now: dict[str, Value]) -> list[Finding]:
    stored, measured = table.grid(before), table.grid(now)
    try:
        return list(compared(table.name, stored, measured))
    except ValueError as error:
        files = " and ".join(now[name].file for name in table.sources)
        raise FiguresError(f"{files}: the table {table.name!r}: {error}") from error


def _tell(title: str, found: Sequence[Finding], before: dict[str, Value], now: dict[str, Value]) -> None:
    """Prints findings of one verdict; how they were measured, if that decides."""
    if found:
        print(f"\n{title}:")
    for one in found:
        print(f"  {one.told()}")
        last = one is found[-1] or found[found.index(one) + 1].table != one.table
        if last and one.verdict is Verdict.WORSE:
            sources = TABLES[one.table].sources
            for word, read in (("stored:  ", before), ("measured:", now)):
                print(f"    {word} {' '.join(caption({name: read[name] for name in sources}, True).split())}")


def _conclude(findings: Sequence[Finding], results: int) -> None:
    count = Counter(one.verdict for one in findings)
    pairs = len(findings) - count[Verdict.MISSING] - count[Verdict.NEW]
    print(f"\nratios compared: {pairs}, in {results} results: {count[Verdict.WORSE]} worse, "
          f"{count[Verdict.BETTER]} better, {count[Verdict.SAME]} the same, {count[Verdict.OTHERS]} of other "
          f"programs changed; not measured: {count[Verdict.MISSING]}, not stored: {count[Verdict.NEW]}")


if __name__ == "__main__":
    sys.exit(main())
