#!/usr/bin/env python3
"""Remaps a profile by a plain interpreter in Python, one NumPy row for each call path and metric, and by tailrace.

    lab/peers/cube_by_numpy.py PROFILE SPECIFICATION [--dir DIR]

The interpreter is that of the tests (tests/cube), for rows; pycubexr reads the input for it. Both write to the page
cache. Prints the times, with reading and without, and the ratio.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
from tailrace import cube

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/cube"))
import slow_cubepl  # noqa: E402
import slow_profile  # noqa: E402

_plain_number, _plain_binary = slow_cubepl.number, slow_cubepl._binary
_OPERATORS = {"+": numpy.add, "-": numpy.subtract, "*": numpy.multiply, "<": numpy.less, ">": numpy.greater}


def number(value):
    """Returns a value as a number; rows stay rows."""
    return value if isinstance(value, numpy.ndarray) else _plain_number(value)


def binary(operator, left, right):
    """Returns the value of an operator; of rows, by NumPy."""
    if not isinstance(left, numpy.ndarray) and not isinstance(right, numpy.ndarray):
        return _plain_binary(operator, left, right)
    if operator == "/":
        return numpy.divide(left, right, out=numpy.zeros_like(left + right), where=right != 0)
    return _OPERATORS[operator](left, right)


class Rows(slow_profile.World):
    """A profile whose values are rows of all locations."""

    def metric(self, name, flavour, fixed, place):
        metric = self.metrics.get(name)
        if metric is None or metric.void or self.initialising:
            return 0.0
        path, _, current = place
        return self.row(metric, current if flavour == "*" else flavour, path)

    def row(self, metric, flavour, path):
        """Returns the exclusive values; inclusive ones are not needed for what is stored."""
        if metric.void or (metric.values is None and not metric.expression):
            return 0.0
        if not metric.expression:
            return metric.values[path]
        return slow_cubepl.Evaluation(self, (path, 0, flavour)).run(self.parse(metric.expression))


def by_numpy(profile, specification, target):
    """Computes and writes all stored metrics; returns the seconds and the bytes."""
    begun = time.monotonic()
    world = Rows(profile, specification)
    written = 0
    with target.open("wb") as file:
        for metric in world.listed:
            if metric.void or metric.kind == "POSTDERIVED":
                continue
            for path in range(len(profile.parents)):
                row = world.row(metric, "e", path)
                if isinstance(row, numpy.ndarray):
                    row.tofile(file)
                    written += row.nbytes
    return time.monotonic() - begun, written


def reading(path):
    """Returns the seconds in which pycubexr reads all exclusive values."""
    import pycubexr

    begun = time.monotonic()
    with pycubexr.CubexParser(path) as parser:
        for metric in parser.all_metrics():
            values = parser.get_metric_values(metric, cache=False)
            for node in parser.all_cnodes():
                values.cnode_values(node, convert_to_exclusive=metric.metric_type == "INCLUSIVE")
    return time.monotonic() - begun


def load(path):
    """Returns the profile with its exclusive values as arrays."""
    opened = cube.open(path)
    regions = {}
    callees = [regions.setdefault(each["region"], len(regions)) for each in opened.call_paths]
    about = [{"name": each["region"], "paradigm": each["paradigm"], "role": each["role"], "module": each["module"],
              "mangled": each["region"], "description": ""} for each in opened.call_paths]
    unique = [next(one for one, callee in zip(about, callees) if callee == number_) for number_ in regions.values()]
    metrics = {name: slow_profile.Metric(name, "EXCLUSIVE", metric["dtype"], opened.values(name))
               for name, metric in opened.metrics.items()}
    parents = [-1 if each["parent"] is None else each["parent"] for each in opened.call_paths]
    return slow_profile.Profile(parents, callees, unique, opened.locations, [0], metrics)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("profile", type=pathlib.Path)
    parser.add_argument("specification", type=pathlib.Path)
    parser.add_argument("--dir", type=pathlib.Path, help="where to write")
    arguments = parser.parse_args()
    slow_cubepl.number, slow_cubepl._binary = number, binary
    specification = slow_profile.read_specification(arguments.specification.read_text())
    with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
        read = reading(arguments.profile)
        profile = load(arguments.profile)
        plain, written = by_numpy(profile, specification, pathlib.Path(folder) / "rows")
        del profile
        done = subprocess.run([cube.program(), "remap", "--json", "-r", arguments.specification, arguments.profile,
                               pathlib.Path(folder) / "out.cubex"], capture_output=True, text=True, check=True)
    own = json.loads(done.stdout)
    print(f"Python: reading {read:.2f} s, computing and writing {written / 1e6:.0f} MB {plain:.2f} s; tailrace, all "
          f"of it: {own['seconds']:.2f} s for {own['bytes'] / 1e6:.0f} MB, {own['threads']} threads; "
          f"{(read + plain) / own['seconds']:.1f} times as fast, {plain / own['seconds']:.1f} without their reading")


if __name__ == "__main__":
    main()
