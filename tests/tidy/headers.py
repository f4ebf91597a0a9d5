#!/usr/bin/env python3
"""Each header compiles alone, and twice in one file: it includes what it needs, and guards itself.

    headers.py COMPILE_COMMANDS C++_COMPILER C_COMPILER [PART PARTS]

PART of PARTS takes every PARTS-th header, so that several processes share the work. It takes the include folders and
definitions from the compile commands of the build. If the build has compiled a header alone, since its own source
file includes it first, it is not compiled again: that would take minutes.
"""

import json
import os
import shlex
import subprocess
import sys

import sources

FOLDERS = ("include/", "src/")
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def flags_of(commands):
    """Returns include folders and definitions of all commands, each once, in their order."""
    flags = []
    for command in commands:
        words = command.get("arguments") or shlex.split(command["command"])
        for word, following in zip(words, words[1:] + [""]):
            if word in ("-I", "-isystem", "-D"):
                flag = (word, following)
            elif word.startswith(("-I", "-D")):
                flag = (word,)
            else:
                continue
            if flag not in flags:
                flags.append(flag)
    return [word for flag in flags for word in flag]


# Requirements of public headers that a build need not have: such a header is skipped if no command of the build has
# the folder.
NEEDS = {"include/tailrace/tailrace_mpi.h": "mpi.h", "include/tailrace/tailrace_mpi.hpp": "mpi.h"}


def can_have(name, flags):
    """Returns True if one of the include folders has what the header needs."""
    return name not in NEEDS or any(os.path.exists(os.path.join(flag.removeprefix("-I"), NEEDS[name]))
                                    for flag in flags)


def compiled_by_the_build(name, root=sources.ROOT):
    """Returns True if the header guards itself, and its source file includes it first."""
    source = (root / name).with_suffix(".cpp")
    if name.startswith("include/") or not source.exists():
        return False
    includes = [line for line in source.read_text(encoding="utf-8").splitlines() if line.startswith("#include")]
    own = f'#include "{name.removeprefix("src/")}"'
    return includes[:1] == [own] and "\n#pragma once\n" in (root / name).read_text(encoding="utf-8")


def headers(names):
    return [name for name in names if name.startswith(FOLDERS) and name.endswith((".h", ".hpp"))
            and not compiled_by_the_build(name)]


def compilations(names, flags, cxx, cc):
    """Returns [(header, command)]: all as C++20, and the C header as C99 as well."""
    cpp = [cxx, "-std=c++20", "-x", "c++", *WARNINGS, *flags, "-fsyntax-only", "-"]
    c = [cc, "-std=c99", "-pedantic", "-x", "c", *WARNINGS, *flags, "-fsyntax-only", "-"]
    jobs = [(name, cpp) for name in headers(names)]
    return jobs + [(name, c) for name in headers(names) if name.endswith(".h") and name.startswith("include/")]


def check(job, root=sources.ROOT):
    name, command = job
    source = f'#include "{root / name}"\n' * 2
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return []
    return [f"{name}: does not compile alone ({command[1]}):\n{result.stderr}"]


def main():
    database, cxx, cc = sys.argv[1:4]
    part, parts = map(int, sys.argv[4:6] or (0, 1))
    with open(database, encoding="utf-8") as file:
        flags = flags_of(json.load(file))
    jobs = compilations([name for name in sources.repository_files() if can_have(name, flags)], flags, cxx, cc)
    jobs = jobs[part::parts]
    complaints = [complaint for job in jobs for complaint in check(job)]
    print(f"{len(jobs)} compilations")
    return sources.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
