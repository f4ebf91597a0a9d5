"""`tailrace report`: one HTML page with pictures and figures of traces and statistics, and of results of benchmarks.

The page needs no other file and no network. Reads files and writes one; runs nothing.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

import tailrace

from . import output


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "report", help="gather results in one HTML page",
        description="Gathers traces, statistics and results in one self-contained HTML page: findings in words, "
                    "pictures, and the figures as tables. Prints its path. Exit code 1 if a file cannot be used.")
    parser.add_argument("files", nargs="+", metavar="FILE", type=pathlib.Path,
                        help="traces and statistics of runs; with tailrace_lab installed also results of benchmarks "
                             "and write times")
    parser.add_argument("--out", metavar="FILE", type=pathlib.Path, default=pathlib.Path("report.html"),
                        help="the page; default: report.html")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    # Here, since they import slowly and the other commands do not need them.
    from tailrace.pictures import page, source, style
    from tailrace.pictures.fault import PictureError

    out = arguments.out / "report.html" if arguments.out.is_dir() else arguments.out
    try:
        content = page.build([source.read(path) for path in arguments.files], tailrace.__version__)
        style.make_directory(out.parent)
        style.write(out, content.encode("utf-8"))
    except PictureError as error:
        output.complain(str(error))
        return 1
    print(out)
    return 0
