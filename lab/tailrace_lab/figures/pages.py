"""The pages with tables, between marks: `<!-- figures: NAME -->` and `<!-- figures end -->`, each on its own line."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable

from tailrace import own_file

from . import documents
from .documents import FiguresError
from .tables import TABLES, Table

PAGES = ("README.md", "docs/benchmarks.md", "docs/benchmarks-programs.md")

_BEGIN = re.compile(r"<!-- figures: (\S*) -->")
_END = "<!-- figures end -->"


def regenerate(root: pathlib.Path) -> list[str]:
    """Writes all tables into the pages of a repository; returns the pages that changed. Raises FiguresError, and has
    then written nothing."""
    read: dict[str, documents.Value] = {}
    texts = {}
    for name in PAGES:
        before = (root / name).read_text(encoding="utf-8")
        after = spliced(before, name, lambda table: _made(table, root / documents.FOLDER, read))
        if after != before:
            texts[name] = after
    for name, text in texts.items():
        own_file.write_whole(root / name, text)
    return list(texts)


def spliced(text: str, page: str, make: Callable[[Table], str]) -> str:
    """Returns a page's text with the tables that `make` returns for the names in its marks."""
    lines: list[str] = []
    begun = 0  # line of the mark whose end is to come
    for number, line in enumerate(text.splitlines(), 1):
        match = _BEGIN.fullmatch(line)
        if match and begun:
            raise FiguresError(f"{page}:{number}: found {line!r}, expected {_END!r} of line {begun}")
        if line == _END and not begun:
            raise FiguresError(f"{page}:{number}: found {line!r} without a beginning")
        if match:
            if match[1] not in TABLES:
                raise FiguresError(f"{page}:{number}: found the table {match[1]!r}, expected one of "
                                   f"{', '.join(TABLES)}")
            begun = number
            lines += [line, "", *make(TABLES[match[1]]).splitlines(), ""]
        elif line == _END:
            begun = 0
        if not begun:
            lines.append(line)
    if begun:
        raise FiguresError(f"{page}:{begun}: found no {_END!r} after this mark")
    return "\n".join(lines) + "\n"


def shown(folder: pathlib.Path) -> str:
    """Returns the tables of the results that a folder has, each below its name."""
    read: dict[str, documents.Value] = {}
    parts = [f"## {name}\n\n{_made(table, folder, read)}" for name, table in TABLES.items()
             if all((folder / f"{source}.json").exists() for source in table.sources)]
    return "\n\n".join(parts) + "\n"


def _made(table: Table, folder: pathlib.Path, read: dict[str, documents.Value]) -> str:
    for source in table.sources:
        if source not in read:
            read[source] = documents.read(folder, source)
    return table.markdown(read)
