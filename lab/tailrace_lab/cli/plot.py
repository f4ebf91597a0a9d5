"""`tailrace plot`: draws pictures of measured runs, as PNG and SVG, from result files, traces and write times.

The content of a file decides on its picture. Reads files and draws; runs nothing.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import TYPE_CHECKING, Any

from tailrace.cli import output

if TYPE_CHECKING:
    from tailrace.pictures.gallery import Picture

_KINDS = ("auto", "curve", "tiles", "timeline", "ablation", "peers", "busy", "requests", "schedulers",
          "sizes")
_FORMATS = ("png", "svg")


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "plot", help="draw results, traces and write times",
        description="Draws a result file of `tailrace bench pattern` (curve over C/W, ablation bars) or `make "
                    "bench-peers` "
                    "(bars), a trace (timeline; those of one run, given together, become one), statistics (how busy "
                    "the writer was over the iterations), a result of `tailrace bench small` or of `bench forward "
                    "--schedulers` (bars), or per-process "
                    "write times (variability tiles). Prints the paths of the pictures. Exit code 1 if one cannot be "
                    "drawn.")
    parser.add_argument("files", nargs="+", metavar="FILE", type=pathlib.Path,
                        help="result, trace or statistics (JSON), or write times (CSV or JSON with run, process, "
                             "seconds, bytes"
                             "[, experiment])")
    parser.add_argument("--kind", choices=_KINDS, default="auto", help="draw only this kind; default: by the "
                                                                       "file's content")
    parser.add_argument("--out", metavar="DIR|FILE", type=pathlib.Path, default=pathlib.Path("."),
                        help="directory for the pictures, or the .png or .svg file of a single one; default: here")
    parser.add_argument("--format", metavar="png,svg", type=_formats, default=None,
                        help="formats to write; default: both, or that of --out")
    parser.add_argument("--from", dest="begin", metavar="SECONDS", type=_seconds, default=None,
                        help="timeline: begin here")
    parser.add_argument("--to", dest="end", metavar="SECONDS", type=_seconds, default=None, help="timeline: end here")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    if arguments.begin is not None and arguments.end is not None and arguments.begin >= arguments.end:
        arguments.parser.error(f"--from {arguments.begin:g} is not before --to {arguments.end:g}")
    # Here, since it imports slowly and the other commands do not need it.
    from tailrace.pictures import gallery, source, style
    from tailrace.pictures.fault import PictureError

    try:
        sources = [source.read(path) for path in arguments.files]
        pictures = gallery.draw(sources, arguments.kind, gallery.Window(arguments.begin, arguments.end))
        for picture, path in _paths(pictures, arguments):
            style.make_directory(path.parent)
            style.write(path, style.encode(picture.figure, path.suffix[1:].lower()))
            print(path)
    except PictureError as error:
        output.complain(str(error))
        return 1
    return 0


def _paths(pictures: list[Picture], arguments: argparse.Namespace) -> list[tuple[Picture, pathlib.Path]]:
    """Returns the path of each picture."""
    ending = arguments.out.suffix[1:].lower()
    formats = arguments.format or ([ending] if ending in _FORMATS and not arguments.out.is_dir() else _FORMATS)
    if ending in _FORMATS and not arguments.out.is_dir():
        if len(pictures) > 1:
            arguments.parser.error(f"--out {arguments.out} is one file, but there are {len(pictures)} pictures: "
                                   f"{', '.join(picture.kind for picture in pictures)}; expected a directory, or one "
                                   "--kind")
        return [(pictures[0], arguments.out.with_suffix(f".{kind}")) for kind in formats]
    paths, taken = [], set()
    for picture in pictures:
        stem = f"{picture.stem}_{picture.kind}"
        number = 2
        while stem in taken:  # Two files in different directories may have the same name.
            stem = f"{picture.stem}_{number}_{picture.kind}"
            number += 1
        taken.add(stem)
        paths += [(picture, arguments.out / f"{stem}.{kind}") for kind in formats]
    return paths


def _formats(text: str) -> list[str]:
    formats = list(dict.fromkeys(word.strip().lower() for word in text.split(",")))
    for word in formats:
        if word not in _FORMATS:
            raise argparse.ArgumentTypeError(f'found "{word}", expected png, svg or png,svg')
    return formats


def _seconds(text: str) -> float:
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f'found "{text}", expected seconds from the first event, 0 or more')
    return value
