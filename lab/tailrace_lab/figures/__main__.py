"""`make figures`: writes the tables of the pages about benchmarks, from the results in docs/figures."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from . import documents, pages


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="figures", description="Writes the tables between the marks of " + ", ".join(pages.PAGES) +
        ", from the results in docs/figures. Exit code 1 if a result is missing or is another one; then no page and "
        "no result has changed.")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="DIR",
                        help="first copy the results of `make bench` from there into docs/figures, trimmed; those "
                             "that are not there stay")
    parser.add_argument("--print", action="store_true", dest="only_print",
                        help="only print the tables of the results in DIR, and change nothing")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(), metavar="DIR",
                        help="the repository (default: this directory)")
    arguments = parser.parse_args(words)
    folder = arguments.root / documents.FOLDER
    try:
        if arguments.only_print:
            print(pages.shown(arguments.source or folder), end="")
            return 0
        new = documents.chosen(arguments.source) if arguments.source else {}
        renewed = pages.regenerate(arguments.root, new)
        if new:
            print(f"copied into {documents.FOLDER}: {', '.join(new)}")
            kept = [name for name in documents.SOURCES if name not in new]
            if kept:
                print(f"not in {arguments.source}, so they stay as they are: {', '.join(kept)}")
        for page in renewed:
            print(f"renewed: {page}")
    except (documents.FiguresError, OSError) as error:
        print(f"figures: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
