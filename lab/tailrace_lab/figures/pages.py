"""The pages with tables, between marks: `<!-- figures: NAME -->` and `<!-- figures end -->`, each on its own line."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable, Mapping

from tailrace import own_file

from . import documents
from .documents import FiguresError
from .tables import TABLES, Table

PAGES = ("README.md", "docs/benchmarks.md", "docs/benchmarks-programs.md")

_BEGIN = re.compile(r"<!-- figures: (\S*) -->")
_END = "<!-- figures end -->"


def regenerate(root: pathlib.Path, new: Mapping[str, documents.Value]) -> list[str]:
    """Writes new results into docs/figures, and all tables into the pages of a repository; returns the pages that
    changed. Raises FiguresError if it cannot make all tables, and has then written nothing."""
    folder = root / documents.FOLDER
    read = {name: new[name] if name in new else documents.published(folder, name) for name in documents.SOURCES}
    before = {name: _text(root / name) for name in PAGES}
    there: list[str] = []
    after = {name: spliced(text, name, lambda table: table.markdown(read), there) for name, text in before.items()}
    lost = [f"<!-- figures: {name} -->" for name in TABLES if name not in there]
    if lost:
        raise FiguresError(f"{', '.join(PAGES)}: found nowhere {', '.join(lost)}, expected each table in a page")
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in new.items():
        own_file.write_whole(folder / f"{name}.json",
                             json.dumps(document.value, indent=1, ensure_ascii=False) + "\n",
                             errors="backslashreplace")  # a lone half of a surrogate pair, as it was
    changed = [name for name in PAGES if after[name] != before[name]]
    for name in changed:
        own_file.write_whole(root / name, after[name])
    return changed


def _text(file: pathlib.Path) -> str:
    """Reads a page as it is, with all of its ends of lines."""
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise FiguresError(f"{file}: {error.strerror}, expected a page with tables between marks") from None
    except UnicodeDecodeError as error:
        raise FiguresError(f"{file}: found no UTF-8 at byte {error.start}, expected a page with tables between "
                           "marks") from None


def spliced(text: str, page: str, make: Callable[[Table], str], there: list[str]) -> str:
    """Returns a page's text with the tables that `make` returns for the names in its marks, and adds these names to
    `there`."""
    lines: list[str] = []
    begun = 0  # line of the mark whose end is to come
    for number, line in enumerate(text.split("\n"), 1):
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
            there.append(match[1])
            lines += [line, "", *make(TABLES[match[1]]).split("\n"), ""]
        elif line == _END:
            begun = 0
        elif "<!-- figures" in line:
            raise FiguresError(f"{page}:{number}: found {line!r}, expected a mark alone on its line")
        if not begun:
            lines.append(line)
    if begun:
        raise FiguresError(f"{page}:{begun}: found no {_END!r} after this mark")
    return "\n".join(lines)


def shown(folder: pathlib.Path) -> str:
    """Returns the tables of the results that a folder has, each below its name."""
    read = {name: documents.read(folder, name) for name in documents.SOURCES if (folder / f"{name}.json").exists()}
    return "\n\n".join(f"## {name}\n\n{table.markdown(read)}" for name, table in TABLES.items()
                       if all(source in read for source in table.sources)) + "\n"
