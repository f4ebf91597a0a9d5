#!/usr/bin/env python3
"""The symbols that libtailrace.so exports are those that the map names and the header declares, and the main
functions of its programs: nothing of HDF5, yaml-cpp or fmt.

    symbols.py [LIBRARY]     without the library, only the map and the header are compared
"""

import re
import subprocess
import sys
from pathlib import Path

import sources

HEADER = sources.ROOT / "include/tailrace/tailrace.h"
PROGRAMS = sources.ROOT / "src/programs/programs.h"
MAP = sources.ROOT / "src/api/tailrace.map"


def symbols_of_header(text):
    text = sources.without_comments_and_strings(text)
    return set(re.findall(r"\bTAILRACE_API\b[^;]*?\b(tailrace_\w+)\s*\(", text))


def symbols_of_map(text):
    """Returns (symbols, versions) of a linker's version script."""
    text = re.sub(r"/\*.*?\*/|#[^\n]*", " ", text, flags=re.DOTALL)
    symbols, versions = set(), set()
    for version, body in re.findall(r"(\w[\w.]*)\s*\{(.*?)\}", text, flags=re.DOTALL):
        versions.add(version)
        named = re.split(r"\blocal\s*:", body)[0].replace("global:", " ")
        symbols |= {word.strip() for word in named.split(";") if word.strip()}
    return symbols, versions


def symbols_of_library(listing):
    """Returns the symbols from the output of nm -D --defined-only."""
    names = (line.split()[-1] for line in listing.splitlines() if line.strip())
    return {name.split("@")[0] for name in names}


def compare(expected, found, expected_in, found_in):
    return [f"{name}: in {expected_in}, not in {found_in}" for name in sorted(expected - found)] + [
        f"{name}: in {found_in}, not in {expected_in}" for name in sorted(found - expected)]


def main():
    named, versions = symbols_of_map(MAP.read_text(encoding="utf-8"))
    declared = symbols_of_header(HEADER.read_text(encoding="utf-8") + PROGRAMS.read_text(encoding="utf-8"))
    complaints = compare(declared, named, "the header", "the map")
    if len(sys.argv) > 1:
        if not Path(sys.argv[1]).is_file():
            print(f"skipped: {sys.argv[1]} has not been built")
            return 77
        command = ["nm", "-D", "--defined-only", sys.argv[1]]
        listing = subprocess.run(command, capture_output=True, text=True, check=True)
        exported = symbols_of_library(listing.stdout) - versions
        complaints += compare(named, exported, "the map", "the library")
    return sources.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
