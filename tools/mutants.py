#!/usr/bin/env python3
"""Proves that the simulator finds faults: puts one deliberate fault at a time into a copy of the sources, builds
`simulate` there, and counts the seeds until it finds the fault. Where a mutant names a test, which tries random
processes of a part that the simulator does not have, it counts the runs of that. Exit code 1 if one is not found.

    tools/mutants.py [--quick] [--only TEXT] [--bound N] [--write]

The faults are in tests/mutants/mutants.json. Works in build/mutants and touches nothing else; with --write the table
goes into docs/simulation.md, where mutants that were not tried keep their rows.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"
BUILD = WORK / "build"
DOCS = ROOT / "docs" / "simulation.md"
COPIED = ("src", "include", "testing", "cmake", "tools", "tests/collective", "python/tailrace/schema.json")
FIRST_SEED = 1  # the same for all, so that the table can be repeated
QUICK = 14  # --quick takes every QUICK-th mutant of the list
SIMULATOR = "simulate"
RUNS = 50  # most runs of a test
SECONDS = 60  # a test that takes longer hangs


@dataclass(frozen=True)
class Mutant:
    """One deliberate fault: its place and its effect."""

    name: str
    file: str
    find: str
    replace: str
    why: str
    test: str = SIMULATOR  # the program that is to find it

    def text(self, original: str) -> str:
        """Returns the file with the fault. Ends the program unless the place occurs exactly once."""
        count = original.count(self.find)
        if count != 1:
            sys.exit(f"mutants: '{self.name}': its text is {count} times in {self.file}, expected once; "
                     f"bring tests/mutants/mutants.json up to date:\n{self.find}")
        return original.replace(self.find, self.replace)


@dataclass(frozen=True)
class Outcome:
    """The result for a mutant. `seeds` is None if it was not found."""

    mutant: Mutant
    seeds: int | None
    checker: str


def run(*command: str | Path) -> None:
    """Runs a command silently; shows its output if it fails."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"mutants: {' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")


def copy_sources() -> None:
    """Updates the copy; unchanged files keep their times, so that little is rebuilt."""
    wanted = {Path("CMakeLists.txt"): ROOT / "tests" / "mutants" / "CMakeLists.txt"}
    for name in COPIED:
        for path in (ROOT / name).rglob("*") if (ROOT / name).is_dir() else [ROOT / name]:
            if path.is_file() and "__pycache__" not in path.parts:
                wanted[path.relative_to(ROOT)] = path
    for relative, source in wanted.items():
        target = TREE / relative
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        shutil.copymode(source, target)
    for path in list(TREE.rglob("*")):
        if path.is_file() and path.relative_to(TREE) not in wanted:
            path.unlink()


def configure() -> None:
    """Configures a separate build: with little optimisation, as each mutant is built anew, and without warnings, as
    a mutant may leave a variable unused."""
    options = [f"-DTAILRACE_DEPS={ROOT / '.deps'}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -w"]
    if shutil.which("ccache"):
        options += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    run("cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", *options)


def build(target: str) -> None:
    """Builds a program with the present fault."""
    run("cmake", "--build", BUILD, "--target", target, "-j", str(os.cpu_count()))


def hunt(mutant: Mutant, bound: int) -> Outcome:
    """Builds the mutant and runs seeds until one fails. Restores the sources afterwards."""
    path = TREE / mutant.file
    original = path.read_text(encoding="utf-8")
    path.write_text(mutant.text(original), encoding="utf-8")
    try:
        build(mutant.test)
        return simulate(mutant, bound) if mutant.test == SIMULATOR else repeat(mutant)
    finally:
        path.write_text(original, encoding="utf-8")


def repeat(mutant: Mutant) -> Outcome:
    """Runs the mutant's test until it fails."""
    for number in range(1, RUNS + 1):
        try:
            result = subprocess.run([BUILD / mutant.test], capture_output=True, text=True, errors="replace",
                                    check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Outcome(mutant, number, f"{mutant.test}: it hangs")
        if result.returncode != 0:
            failed = re.search(r"\[  FAILED  \] (\w+\.\w+)", result.stdout)
            return Outcome(mutant, number, f"{mutant.test}: " + (failed.group(1) if failed else "it is killed"))
    return Outcome(mutant, None, "")


def simulate(mutant: Mutant, bound: int) -> Outcome:
    """Runs seeds of the simulator until one fails."""
    program = BUILD / "testing" / "simulation" / SIMULATOR
    result = subprocess.run([program, "--seeds", str(bound), "--first", str(FIRST_SEED), "--no-shrink"],
                            capture_output=True, text=True, errors="replace", check=False)
    if result.returncode == 0:
        return Outcome(mutant, None, "")
    found = re.search(r"FAILED after (\d+) seeds, found by: (.*)", result.stdout)
    if found is None:
        sys.exit(f"mutants: '{mutant.name}': simulate failed in another way:\n{result.stdout}{result.stderr}")
    return Outcome(mutant, int(found.group(1)), found.group(2))


def row(outcome: Outcome) -> str:
    """Returns the outcome as a row of the table."""
    seeds = "not found" if outcome.seeds is None else str(outcome.seeds)
    file = outcome.mutant.file.removeprefix("src/")
    return f"| {outcome.mutant.name} | `{file}` | {outcome.mutant.why} | {seeds} | {outcome.checker} |"


def table(rows: list[str]) -> str:
    """Returns the rows as a table in Markdown."""
    head = "| mutant | in | what is wrong | seeds, runs | found by |"
    return "\n".join([head, "|---|---|---|---:|---|", *rows]) + "\n"


def write_docs(names: list[str], outcomes: list[Outcome]) -> None:
    """Writes the rows of the outcomes into the table of the page, in the order of `names`."""
    page = DOCS.read_text(encoding="utf-8")
    begin, end = "<!-- mutants: begin -->\n", "<!-- mutants: end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(f"mutants: {DOCS.relative_to(ROOT)} has no marks for the table")
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in rest.partition(end)[0].splitlines()}
    rows |= {outcome.mutant.name: row(outcome) for outcome in outcomes}
    text = table([rows[name] for name in names if name in rows])
    DOCS.write_text(before + begin + text + end + after, encoding="utf-8")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"every {QUICK}th mutant only")
    parser.add_argument("--only", metavar="TEXT", help="mutants whose name contains this")
    parser.add_argument("--bound", type=int, default=10_000, metavar="N", help="seeds at most (10000)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/simulation.md")
    arguments = parser.parse_args()
    entries = json.loads((ROOT / "tests" / "mutants" / "mutants.json").read_text(encoding="utf-8"))
    mutants = [Mutant(**entry) for entry in entries]
    names = [mutant.name for mutant in mutants]
    for mutant in mutants:
        mutant.text((ROOT / mutant.file).read_text(encoding="utf-8"))
    if arguments.quick:
        mutants = mutants[::QUICK]
    if arguments.only:
        mutants = [mutant for mutant in mutants if arguments.only in mutant.name]
    begin = time.monotonic()
    copy_sources()
    configure()
    outcomes = []
    for mutant in mutants:
        outcome = hunt(mutant, arguments.bound)
        outcomes.append(outcome)
        unit = "seeds" if mutant.test == SIMULATOR else "runs"
        told = f"{outcome.seeds} {unit}, by {outcome.checker}" if outcome.seeds else "NOT FOUND"
        print(f"{mutant.name}: {told}", flush=True)
    missed = [outcome.mutant.name for outcome in outcomes if outcome.seeds is None]
    print("\n" + table([row(outcome) for outcome in outcomes]))
    print(f"{len(outcomes) - len(missed)} of {len(outcomes)} mutants found, {time.monotonic() - begin:.0f} s")
    if arguments.write:
        write_docs(names, outcomes)
    if missed:
        print(f"not found within {arguments.bound} seeds: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
