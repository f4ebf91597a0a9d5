#!/usr/bin/env python3
"""Each fault of tests/mutants/mutants.json can still be planted: what it replaces is in its file, once. A fault whose
text is gone would fail only when somebody runs `make mutants`, by hand. Run as a script, it checks the repository.
"""

import json
import sys
from pathlib import Path

import sources


def check_fault(fault, text):
    """`text`: the file's, None if there is no such file. Returns a complaint, or None."""
    if text is None:
        return f"{fault['file']}: there is no such file, for '{fault['name']}' in mutants.json"
    found = text.count(fault["find"])
    if found == 1:
        return None
    return f"{fault['file']}: has {found} times what '{fault['name']}' in mutants.json replaces, expected once"


def main():
    faults = json.loads((sources.ROOT / "tests/mutants/mutants.json").read_text(encoding="utf-8"))
    complaints = []
    for fault in faults:
        path = Path(sources.ROOT / fault["file"])
        complaints.append(check_fault(fault, path.read_text(encoding="utf-8") if path.is_file() else None))
    complaints = list(filter(None, complaints))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
