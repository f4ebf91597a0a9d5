#!/usr/bin/env python3
"""Measures the cost of a variable with h5py: files with as many small datasets and the same attributes as
bench_variables has, written synchronously, for comparison with that program's figures."""

import argparse
import datetime
import json
import shutil
import statistics
import time
from pathlib import Path

import h5py
import numpy

ELEMENTS = 64


def text(value):
    return numpy.bytes_(value.encode())


def describe(dataset):
    """Adds the attributes of docs/formats/output.md."""
    put = dataset.attrs.create
    put("geometry", text("cartesian"))
    put("dataOrder", text("C"))
    put("axisLabels", numpy.array([b"x"]))
    put("gridSpacing", numpy.array([1.0]))
    put("gridGlobalOffset", numpy.array([0.0]))
    put("gridUnitSI", 1.0)
    put("timeOffset", 0.0)
    put("unitDimension", numpy.array([0.0, 0, 0, 0, 1, 0, 0]))
    put("unitSI", 1.0)
    put("position", numpy.array([0.0]))
    put("unit", text("K"))
    put("tailraceGlobalShape", numpy.array([ELEMENTS], dtype="u8"))
    put("tailraceOffset", numpy.array([0], dtype="u8"))


def write(path, iteration, names, values):
    with h5py.File(path, "w", libver=("v108", "v108")) as file:
        group = file.create_group(f"/data/{iteration}")
        group.attrs.create("time", float(iteration))
        meshes = group.create_group("meshes")
        for name in names:
            describe(meshes.create_dataset(name, data=values))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="seconds only: shows that it runs, measures nothing")
    parser.add_argument("--dir", default="out/bench", type=Path, help="where files go")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures, as bench_variables does")
    options = parser.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    values = numpy.full(ELEMENTS, 1.5)
    rows = []
    for count in [20] if options.tiny else [100, 1000]:
        names = [f"variable_{number}" for number in range(count)]
        seconds = []
        for iteration in range(3 if options.tiny else 12):
            start = time.thread_time()
            write(options.dir / f"h5py_{iteration:06}.h5", iteration, names, values)
            seconds.append(time.thread_time() - start)
        each = [1e6 * one / count for one in seconds[1:]]
        print(f"{'h5py, the same attributes':32} {count:6} variables: caller {statistics.median(each):6.2f} us each "
              f"({min(each):.2f} to {max(each):.2f})")
        rows.append({"what": "h5py, the same attributes", "variables": count, "caller": statistics.median(each),
                     "least": min(each), "most": max(each)})
    if options.json:
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        document = {"tailrace_figures": 1, "created": now, "command": "variables_by_h5py.py", "rows": rows}
        options.json.write_text(json.dumps(document | ({"quick": True} if options.tiny else {}), indent=1) + "\n")
    shutil.rmtree(options.dir)


if __name__ == "__main__":
    main()
