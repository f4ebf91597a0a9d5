#!/usr/bin/env python3
"""Limits on size: how many concepts and lines a folder of src, bindings and apps/cube has, and how many functions a
class. Run as a script, it checks the repository.

A concept is a header with its source, or either alone. A class with more functions than the limit says why, in the
comment of its header: "more than 35 functions: …".
"""

import posixpath
import re
import sys
from pathlib import Path

import sources

MAX_CONCEPTS = 12
MAX_LINES = 3000
MAX_FUNCTIONS = 35
FOLDERS = ("src/", "bindings/", "apps/cube/")
CODE = {".c", ".cpp", ".h", ".hpp", ".f90", ".F90", ".in", ".py"}

CLASS = re.compile(r"\b(?:class|struct)\s+(?:[A-Z_]+\([^{;]*?\)\)?\s+)?([\w:]+)\s*(?:final\s*)?(?::[^{;]*)?\{")
DECLARATION = re.compile(r"[\w~=\[\]+\-*/<>!]+\s*\([^;{}]*\)[^;{}]*(?:;|$)")
EXPLAINED = re.compile(rf"\bmore than {MAX_FUNCTIONS} functions:", re.IGNORECASE)


def check_folders(lines_of):
    """`lines_of` maps the path of each file to its number of lines."""
    folders = {}
    for path, lines in lines_of.items():
        if path.startswith(FOLDERS) and Path(path).suffix in CODE:
            concepts, total = folders.setdefault(posixpath.dirname(path), (set(), 0))
            concepts.add(Path(path).name.split(".")[0])
            folders[posixpath.dirname(path)] = (concepts, total + lines)
    complaints = []
    for folder, (concepts, lines) in sorted(folders.items()):
        if len(concepts) > MAX_CONCEPTS:
            complaints.append(f"{folder}: {len(concepts)} concepts; the limit is {MAX_CONCEPTS}: it is two folders")
        if lines > MAX_LINES:
            complaints.append(f"{folder}: {lines} lines; the limit is {MAX_LINES}: it is two folders")
    return complaints


def members_of(text, begin):
    """Returns the text of a class whose brace has just opened, with a semicolon for each inner pair of braces."""
    depth, members = 1, []
    for char in text[begin:]:
        depth += (char == "{") - (char == "}")
        if depth == 0:
            break
        if depth == 1:
            members.append(";" if char == "}" else char)
    return "".join(members)


def without_labels(members):
    return re.sub(r"\b(public|private|protected)\s*:", ";", members)


def functions_of(members):
    """Returns how many member functions are declared or defined."""
    count = 0
    for statement in without_labels(members).split(";"):
        # Only the text before a constructor's initializer list, or before a default value, counts.
        head = re.split(r"\)\s*:\s*(?!:)|(?<![=!<>])=(?!=)\s*(?!0\b|default\b|delete\b)", statement)[0]
        if "(" in head and not re.match(r"\s*(using|static_assert|friend|typedef|enum|struct|class)\b", head):
            count += 1
    return count


def check_classes(path, text):
    plain = sources.without_comments_and_strings(text)
    complaints = []
    for match in CLASS.finditer(plain):
        count = functions_of(members_of(plain, match.end()))
        if count > MAX_FUNCTIONS and not EXPLAINED.search(text):
            line = plain.count("\n", 0, match.start()) + 1
            complaints.append(f'{path}:{line}: {match.group(1)} has {count} functions; the limit is {MAX_FUNCTIONS}, '
                              f'or a sentence "more than {MAX_FUNCTIONS} functions: …" in the header\'s comment')
    return complaints


def main():
    texts = {path: (sources.ROOT / path).read_text(encoding="utf-8", errors="replace")
             for path in sources.repository_files() if path.startswith(FOLDERS)}
    complaints = check_folders({path: text.count("\n") for path, text in texts.items()})
    for path, text in sorted(texts.items()):
        if Path(path).suffix in {".h", ".hpp"}:
            complaints += check_classes(path, text)
    return sources.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
