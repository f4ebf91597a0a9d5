"""`tailrace open`: writes the files by which other programs open a series."""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

from tailrace import series as series_of
from tailrace import xdmf

from . import output


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "open", help="write files with which ParaView, VisIt and openPMD's readers open a series",
        description="Writes NAME.xmf (XDMF, for ParaView and VisIt: meshes of two and three dimensions, and "
                    "particles) or NAME.pmd (for openPMD's readers in them; one for each file of several iterations) "
                    "into the directory of a series. Without options, writes both. They refer to the files, and "
                    "contain no data.")
    parser.add_argument("path", metavar="DIR", type=pathlib.Path,
                        help="the output directory, or a file of the series")
    parser.add_argument("--name", help="the series, if there are several")
    parser.add_argument("--xdmf", action="store_true", help="only NAME.xmf")
    parser.add_argument("--pmd", action="store_true", help="only NAME.pmd; with both options, both")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    both = arguments.xdmf == arguments.pmd
    try:
        series = series_of.find(arguments.path, arguments.name)
        directory = arguments.path if arguments.path.is_dir() else arguments.path.parent
        if arguments.xdmf or both:
            path, left_out = xdmf.write_xdmf(series, directory)
            print(path)
            for line in left_out:
                print(f"  without {line}")
        if arguments.pmd or both:
            for path in xdmf.write_pmd(series, directory):
                print(path)
    except (series_of.NoSeries, OSError) as error:
        output.complain(str(error))
        return 1
    return 0
