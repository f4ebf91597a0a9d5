"""The demonstration's report: one HTML page with the conclusion, the table, the pictures, and how it was measured.

It shows what demo.py has; it measures and draws nothing.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import tailrace
from tailrace.pictures import frame

from . import demo_table
from .demo_numbers import KINDS, TITLES, Numbers

QUICK = "A quick run: it shows that everything works. Its figures are no measurement."

_PICTURES = (
    ("timelines.png", "Both runs on a common time axis, a part of them, and the wait for each output",
     "At the top both runs as a whole: dark is time in which the program waited for its output. Below, a part of "
     "both, with tailrace's writer at work beside the program."),
    ("wave.png", "The wave at four moments, and its course along a line",
     "The data themselves, read back from the files that tailrace wrote."))


def write(directory: pathlib.Path, numbers: Numbers, description: str, files: Sequence[str], checks: Sequence[str],
          quick: bool) -> pathlib.Path:
    """Writes the page into the directory, beside the pictures, and returns its path; may raise OSError."""
    path = directory / "report.html"
    path.write_text(build(directory, numbers, description, files, checks, quick), encoding="utf-8")
    return path


def build(directory: pathlib.Path, numbers: Numbers, description: str, files: Sequence[str], checks: Sequence[str],
          quick: bool) -> str:
    """Returns the page. A picture that is not in the directory is left out."""
    said = [*([QUICK] if quick else []), demo_table.conclusion(numbers), *demo_table.doubts(numbers)]
    rows = [frame.row(name.strip(), cells) for name, cells in demo_table.rows(numbers)]
    pictures = [frame.figure("png", (directory / name).read_bytes(), alt, caption)
                for name, alt, caption in _PICTURES if (directory / name).is_file()]
    pairs: list[tuple[str, Any]] = [("writer", description), ("files", f"{files[0]} … {files[-1]} ({len(files)})"),
                                    ("checked", ", ".join(checks))]
    body = ('<section class="short"><h3>In short</h3><ul>' + "".join(f"<li>{frame.text(one)}</li>" for one in said)
            + "</ul></section>\n<section>"
            + frame.table(["", *(TITLES[kind] for kind in KINDS)], rows, demo_table.title(numbers))
            + "\n".join(pictures) + "<h3>How it was measured</h3>"
            + "".join(f"<p>{frame.text(line.strip())}</p>" for line in demo_table.basis(numbers))
            + frame.facts(pairs) + "</section>\n")
    return frame.document("Demonstration: a tsunami, with and without tailrace",
                          f"Made by tailrace {frame.text(tailrace.__version__)}: <code>tailrace demo</code>", body)
