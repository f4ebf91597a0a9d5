#!/usr/bin/env python3
"""Style checks: lengths, marks of unfinished work, names of machines and of tests. Run as a script, it checks the
repository. Functions that are too long for historical reasons are in long_functions.txt with their length, and may
only become shorter."""

import re
import sys
from pathlib import Path

import functions
import sources

MAX_COLUMNS = 118
MAX_FUNCTION_LINES = 70
MAX_CELL = 120
MAX_FILE_LINES = 800
MAX_BYTES = 1 << 20

CODE = {".c", ".cpp", ".h", ".hpp", ".py", ".sh", ".cmake", ".f90", ".toml"}
CODE_NAMES = {"CMakeLists.txt", "Makefile", ".ci/run"}
MEASURED = sources.CPP | {".py"}  # functions in these files are measured
RATCHET = "tests/tidy/long_functions.txt"

# Split so that this file does not complain about itself.
FIX_ME = "FIX" + "ME"
TO_DO = "TO" + "DO"
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(work|home|root|farm)/")
# A comment names its object and has a verb: "Returns true if …", not "Whether …".
OPENING = re.compile(r"\s*// (What|Whether|Who|Whose|Of|The same|That)\b")
# Tests, as GoogleTest, pytest and unittest know them.
CPP_TEST = re.compile(r"^TEST(_F|_P)?\(", re.MULTILINE)
PYTHON_TEST = re.compile(r"^( {4})?def test_", re.MULTILINE)
REGISTRY = re.compile(r"\b(pypi|crates|npmjs|maven|golang|debian|pythonhosted)\.(org|io|com)\b")


def is_code(path):
    return Path(path).suffix in CODE or path in CODE_NAMES or Path(path).name in CODE_NAMES


def check_lines(path, text):
    complaints = []
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}:"
        if is_code(path):
            if len(line) > MAX_COLUMNS:
                complaints.append(f"{where} {len(line)} columns; the limit is {MAX_COLUMNS}")
            if re.search(rf"\b{FIX_ME}\b", line):
                complaints.append(f"{where} {FIX_ME}: mend it or write a {TO_DO}(kind)")
            if re.search(rf"\b{TO_DO}\b(?!\([a-z_]+\): )", line):
                complaints.append(f'{where} a {TO_DO} says of what kind it is: "{TO_DO}(kind): …"')
        match = MACHINE_PATH.search(line) or REGISTRY.search(line)
        if match:
            complaints.append(f"{where} names a machine: {match.group()}")
    return complaints


def check_comments(path, text):
    """Checks the first lines of comments in C++: complains about those that open without an object or a verb."""
    complaints = []
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        opening = OPENING.match(line)
        if opening and not before.lstrip().startswith("//"):
            word = opening.group(1)
            complaints.append(f'{path}:{number}: a comment opens with "{word}": name its object, with a verb')
        before = line
    return complaints


def check_prose(path, text):
    """Checks the length of lines in Markdown, outside blocks of code and tables."""
    complaints = []
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        code ^= line.lstrip().startswith("```")
        if len(line) > MAX_COLUMNS and not code and not line.startswith(("|", "    ")):
            complaints.append(f"{path}:{number}: {len(line)} columns; the limit is {MAX_COLUMNS}")
    return complaints


def check_cells(path, text):
    """Checks cells of tables in Markdown, outside blocks of code."""
    complaints = []
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        code ^= line.lstrip().startswith("```")
        if code or not line.startswith("|"):
            continue
        longest = max(len(cell.strip()) for cell in line.split("|"))
        if longest > MAX_CELL:
            complaints.append(f"{path}:{number}: a cell of {longest} characters; the limit is {MAX_CELL}")
    return complaints


def check_file_length(path, text):
    lines = text.count("\n")
    if is_code(path) and lines > MAX_FILE_LINES:
        return [f"{path}: {lines} lines; the limit is {MAX_FILE_LINES}: is it still one concept?"]
    return []


def check_functions(path, text, ratchet):
    """`ratchet` maps (path, function) to the length it may have; entries that were used are removed from it."""
    complaints = []
    for name, line, length in functions.functions(path, text):
        allowed = ratchet.pop((path, name), None)
        if allowed is not None and length < allowed:
            complaints.append(f"{path}:{line}: {name} has become shorter ({length} lines): say so in {RATCHET}")
        elif length > max(allowed or 0, MAX_FUNCTION_LINES):
            limit = allowed or MAX_FUNCTION_LINES
            complaints.append(f"{path}:{line}: {name} has {length} lines; the limit is {limit}")
    return complaints


def read_ratchet(text):
    """Reads lines "path function length", and comments."""
    entries = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            entries[words[0], words[1]] = int(words[2])
    return entries


def check_test_name(path, text):
    """Only tests are called <concept>_test.* (C, C++, Fortran) or test_<concept>.py (Python), and all of them are."""
    stem, suffix = Path(path).stem, Path(path).suffix
    if not path.startswith("tests/") or suffix not in sources.CPP | {".py", ".f90"}:
        return []
    if suffix == ".py":
        if stem.endswith("_test"):
            return [f"{path}: a test in Python is test_<concept>.py; a program that tests start is a plain noun"]
        if PYTHON_TEST.search(text) and not stem.startswith("test_"):
            return [f"{path}: has tests, so its name is test_<concept>.py"]
        return []
    if stem.startswith("test_") or (stem.endswith("_test") and suffix in {".h", ".hpp"}):
        return [f"{path}: a test is <concept>_test.c or .cpp, and what tests share is a noun or a *_rig.hpp"]
    if CPP_TEST.search(text) and not stem.endswith("_test"):
        return [f"{path}: has tests, so its name is <concept>_test{suffix}"]
    return []


def check_size(path, size):
    if size > MAX_BYTES:
        return [f"{path}: {size} bytes; the limit is {MAX_BYTES}: data do not belong in the repository"]
    return []


def main():
    complaints = []
    ratchet = read_ratchet((sources.ROOT / RATCHET).read_text(encoding="utf-8"))
    for path in sources.repository_files():
        data = (sources.ROOT / path).read_bytes()
        complaints += check_size(path, len(data))
        if b"\0" in data:
            continue
        text = data.decode("utf-8", errors="replace")
        complaints += check_lines(path, text) + check_file_length(path, text) + check_test_name(path, text)
        if Path(path).suffix in sources.CPP:
            complaints += check_comments(path, text)
        if Path(path).suffix == ".md":
            complaints += check_cells(path, text)
        if Path(path).suffix == ".md" and path != "CHANGELOG.md":
            complaints += check_prose(path, text)
        if Path(path).suffix in MEASURED:
            complaints += check_functions(path, text, ratchet)
    complaints += [f"{RATCHET}: {path} has no function {name} any more" for path, name in ratchet]
    return sources.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
