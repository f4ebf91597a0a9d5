#!/usr/bin/env python3
"""Runs the connector's suites with each HDF5 that can be had, and prints what passed as a table.

    tools/hdf5_matrix.py [--write] [--head DIRECTORY]

`make hdf5-matrix` builds tailrace first. Crates have HDF5 1.14.6 and 2.0.0 to 2.2.0, Debian has 1.14.5
(tools/build_hdf5_tests.sh), and Python's wheels have their own. --head adds a directory with the source of any HDF5,
such as its development head, which no package has. --write puts the table into docs/hdf5-details.md, between its
marks. Takes a quarter of an hour on two cores, and a few minutes later on: what is built stays in .deps/hdf5-matrix.
Exit code 1: something failed.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILT = ROOT / ".deps/hdf5-matrix"
PAGE = ROOT / "docs/hdf5-details.md"
MARKS = "<!-- hdf5-matrix -->\n", "<!-- end of hdf5-matrix -->\n"
RESULTS = ROOT / "build/hdf5-matrix.xml"
SIGNED = ROOT / ".deps/hdf5-signed"
# What is built here: the source, and options.
LIBRARIES = {
    "1.14.6": ("1.14.6",), "2.0.0": ("2.0.0",), "2.1.0": ("2.1.0",), "2.2.0": ("2.2.0",),
    "2.2.0-concurrency": ("2.2.0", "-DHDF5_ENABLE_CONCURRENCY=ON")}
TESTS = "tests/hdf5"
# HDF5, whose library, the suite, and what pytest runs.
SUITES = [
    ("1.14.5", "Debian 13's source", "HDF5's own tests", [f"{TESTS}/users/test_api.py"]),
    ("1.14.5", "Debian 13's source", "HDF5's tools", [f"{TESTS}/users/test_tools.py"]),
    ("1.14.6", "PyTables' wheel", "PyTables", [f"{TESTS}/users/test_pytables.py"]),
    ("1.14.6", "PyTables' wheel", "threads", [f"{TESTS}/users/test_threads.py", "-k", "of_wheel"]),
    ("2.0.0", "h5py's wheel", "data and files", [f"{TESTS}/data", f"{TESTS}/files"]),
    ("2.0.0, 2.2.0", "h5py's, netCDF4's wheels", "random Python programs", [f"{TESTS}/users/test_connector.py"]),
    ("1.14.5, 1.14.6", "Debian 13's, PyTables'", "threads of two libraries",
     [f"{TESTS}/users/test_threads.py", "-k", "libraries"]),
    ("2.2.0", "parallel", "4 ranks", [f"{TESTS}/users/test_parallel.py"]),
    ("2.2.0", "with concurrency", "threads", [f"{TESTS}/users/test_threads.py", "-k", "concurrent"]),
    ("2.2.0", "for signed plugins", "signatures", [f"{TESTS}/users/test_signed_plugins.py"])]


def build(directory, arguments):
    return subprocess.run([ROOT / "tools/build_hdf5_tests.sh", directory, *arguments], check=False).returncode == 0


def outcome(command, **more):
    """Runs tests that write RESULTS; returns how many passed, failed and were skipped."""
    RESULTS.unlink(missing_ok=True)
    subprocess.run([*map(str, command)], cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, **more}, check=False)
    if not RESULTS.exists():
        return 0, 1, 0
    suites = list(xml.etree.ElementTree.parse(RESULTS).getroot().iter("testsuite"))
    total, failed, skipped = (sum(int(suite.get(key) or 0) for suite in suites for key in keys.split())
                              for keys in ("tests", "failures errors", "skipped"))
    return total - failed - skipped, failed, skipped


def result(passed, failed, skipped):
    words = [f"{passed} passed"] if passed else []
    words += [f"**{failed} failed**"] if failed else []
    words += [f"{skipped} skipped"] if skipped else []
    return ", ".join(words) or "none"


def random_programs(version):
    """`version`: the name in ctest; None: of the library that all tests use."""
    pattern = rf"^hdf5\.random\.{re.escape(version)}\." if version else r"^hdf5\.random\.[^.]*$"
    return outcome(["ctest", "--test-dir", "build/release", "-j2", "-R", pattern, "--output-junit", RESULTS])


def tests(arguments, **more):
    return outcome([sys.executable, "-m", "pytest", "-q", f"--junitxml={RESULTS}", *arguments], **more)


def rows(head):
    libraries = {**LIBRARIES, **({"head": (str(head),)} if head else {})}
    built = {name: build(BUILT / name, arguments) for name, arguments in libraries.items()}
    build(SIGNED, ["2.2.0", "-DHDF5_REQUIRE_SIGNED_PLUGINS=ON"])
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "hdf5_random"], cwd=ROOT, check=True)
    yield "1.14.5", "Debian 13's source", "random programs", random_programs(None)
    yield "2.2.0", "parallel", "random programs", random_programs("parallel")
    for name, is_built in built.items():
        version, _, kind = name.partition("-")
        library = f"with {kind}" if kind else "a crate's source" if name in LIBRARIES else "a given source"
        yield version, library, "random programs", random_programs(name) if is_built else (0, 1, 0)
        if (BUILT / name / "bin/h5_api_test").exists():
            for suite in "api", "tools":
                yield (version, library, f"HDF5's own {suite}",
                       tests([f"{TESTS}/users/test_{suite}.py"], TAILRACE_TEST_HDF5=str(BUILT / name)))
    for version, library, suite, arguments in SUITES:
        yield version, library, suite, tests(arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--head", type=pathlib.Path)
    options = parser.parse_args()
    found = sorted(rows(options.head and options.head.resolve()), key=lambda row: row[0])
    table = "| HDF5 | library | suite | tests |\n|---|---|---|---|\n"
    table += "".join(f"| {' | '.join(row[:3])} | {result(*row[3])} |\n" for row in found)
    print(table, end="")
    if options.write:
        before, rest = PAGE.read_text().split(MARKS[0])
        PAGE.write_text(before + MARKS[0] + table + MARKS[1] + rest.split(MARKS[1])[1])
    sys.exit(any(row[3][1] for row in found))


if __name__ == "__main__":
    main()
