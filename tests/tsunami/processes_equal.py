"""The tsunami on 2 and 4 processes publishes what it publishes on one, bit for bit: every field of every iteration,
the bathymetry, the gauges' records, and the results in the report.

    processes_equal.py [--mpiexec COMMAND TSUNAMI_MPI] TSUNAMI DIRECTORY OUTPUT-OPTION…

Exit code 77, a skip, if the library lacks the place, or h5py is missing.
"""

import argparse
import contextlib
import fcntl
import json
import pathlib
import shutil
import subprocess
import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ITERATIONS = 4
RESULTS = ("steps", "substeps", "outputs", "bytes", "volume_before_m3", "volume_after_m3", "gauges")

# A basin with an island and a shallow shelf; 41 x 37 points, none of them at a round number.
NX, NY, CELL = 41, 37, 0.0125


def write_topo(path: pathlib.Path) -> None:
    j, i = np.mgrid[0:NY, 0:NX]
    heights = -60 + 55 * np.sin(0.31 * i) * np.cos(0.23 * j) + 0.37 * ((7 * i + 11 * j) % 13)
    heights += 120 * np.exp(-((i - 25) ** 2 + (j - 18) ** 2) / 12)
    rows = "\n".join(" ".join(f"{value:.3f}" for value in row) for row in heights)
    path.write_text(f"ncols {NX}\nnrows {NY}\nxllcenter 3.1\nyllcenter -2.7\ncellsize {CELL}\n{rows}\n")


def run(start: list[str], directory: pathlib.Path, processes: int, options: list[str]) -> dict:
    """Makes one run into a separate directory, with the command `start`; returns its report."""
    out = directory / f"processes{processes}"
    shutil.rmtree(out, ignore_errors=True)
    report = directory / f"processes{processes}.json"
    command = [*start, "--topo", str(directory / "topo.asc"), "--refine", "2", "--gaussian=3.35,-2.475,4,9",
               "--steps", str(6 * ITERATIONS), "--output-every", "6", "--quiet", "--gauge=3.35,-2.46,south",
               "--gauge=3.31,-2.4765,middle", "--gauge=3.4,-2.3,north", "--out", str(out), "--json", str(report),
               *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        if "place.kind: found" in done.stderr:
            print(f"skipped: {done.stderr}")
            sys.exit(77)
        sys.exit(f"exit code {done.returncode}: {done.stderr}")
    result: dict = json.loads(report.read_text())
    result["out"] = out
    return result


def read_fields(report: dict) -> dict[tuple[int, str], np.ndarray]:
    """Returns every field of every iteration as a whole, from any number of files."""
    blocks: dict[tuple[int, str], dict[int, np.ndarray]] = {}
    for name in report["files"]:
        with h5py.File(name) as file:
            for iteration, group in file["data"].items():
                for variable, data in group["meshes"].items():
                    # The block's place in the whole array, from attributes that every openPMD file has.
                    south = data.attrs["gridGlobalOffset"][0] - -2.7
                    row = round(south / data.attrs["gridSpacing"][0])
                    block = blocks.setdefault((int(iteration), variable), {})
                    assert row not in block, f"{name}: row {row} of {variable} for the second time"
                    block[row] = data[...]
    fields = {}
    for key, parts in blocks.items():
        ends = [row + len(part) for row, part in sorted(parts.items())]
        assert sorted(parts) == [0, *ends[:-1]], f"{key}: rows {sorted(parts)} begin, {ends} end"
        fields[key] = np.concatenate([part for _, part in sorted(parts.items())])
    return fields


def wait_for_the_server(out: pathlib.Path) -> None:
    """Waits for the locks, which a server of place core releases shortly after its last client has closed."""
    for lock in out.glob(".*.lock"):
        with contextlib.suppress(FileNotFoundError), lock.open("r+") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)


def compare(one: dict, several: dict) -> None:
    expected, found = read_fields(one), read_fields(several)
    assert set(expected) == set(found) == {(k, v) for k in range(1, ITERATIONS + 1) for v in ("eta", "hu", "hv")}
    for key, field in expected.items():
        assert field.shape == (2 * NY - 1, 2 * NX - 1) and field.dtype == found[key].dtype, key
        assert field.tobytes() == found[key].tobytes(), f"{key} differs"
    assert np.ptp(expected[ITERATIONS, "hv"]) > 1, "the test is no test if nothing moves"
    for name in ("bathymetry.npy", "gauge_south.csv", "gauge_middle.csv", "gauge_north.csv"):
        assert (one["out"] / name).read_bytes() == (several["out"] / name).read_bytes(), f"{name} differs"
    assert np.load(one["out"] / "bathymetry.npy").shape == (2 * NY - 1, 2 * NX - 1)
    for name in RESULTS:
        assert one[name] == several[name], f"{name}: {several[name]}, on one process {one[name]}"
    rows = [process["rows"] for process in several["processes"]]
    assert sum(rows) == 2 * NY - 1 and max(rows) - min(rows) <= 1, rows
    wait_for_the_server(several["out"])
    left = [entry.name for entry in several["out"].iterdir() if entry.name.endswith(".part") or ".lock" in entry.name]
    assert not left, left


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpiexec", nargs=2, help="these start the several processes, not --processes; a "
                                                        "command of several words is one argument")
    parser.add_argument("tsunami")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("options", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    options = arguments.options
    arguments.directory.mkdir(parents=True, exist_ok=True)
    write_topo(arguments.directory / "topo.asc")
    # One process, with a thread or synchronously: the reference for the others.
    first = [part for part in options if part not in ("--place", "core", "--file-per", "node")]
    one = run([arguments.tsunami], arguments.directory, 1, first)
    for processes in (2, 4):
        start = [arguments.tsunami, "--processes", str(processes)]
        if arguments.mpiexec:
            start = [*arguments.mpiexec[0].split(), "-n", str(processes), arguments.mpiexec[1]]
        several = run(start, arguments.directory, processes, options)
        assert len(several["processes"]) == processes
        compare(one, several)
        print(f"{processes} processes: the same bits in {len(several['files'])} files")


main()
