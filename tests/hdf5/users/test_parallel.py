"""Parallel HDF5 with the connector: a program of 4 ranks leaves the same files as without it.

The program, tests/hdf5/programs/parallel.c, checks what its ranks read. TAILRACE_SEED=… repeats the random parts.
"""

import json
import os
import random
import subprocess

import h5py
import numpy
import pytest
from conftest import REPOSITORY
from tailrace import mpis
from tailrace.cli import run as run_command

HDF5 = REPOSITORY / ".deps" / "hdf5-parallel"
RANKS = 4
VALUES = numpy.arange(64 * 512).reshape(64, 512) + 0.5  # of most datasets
PLACES = ("thread", "core")
CASES = ("rows", "tiles", "columns", "conversion", "nothing", "wrong", "chunks", "fills", "across", "files",
         "several", "attributes", "reuse", "nameless", "holes", "atomic", "metadata", "serial", "said", "later")
CONFIGURATION = """\
tailrace: 1
name: hdf5
place: {{kind: {place}}}
storage: {{path: {path}}}
memory: {{budget: 16 MiB}}
measurements: {{report: true}}
"""


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Runs cases of the program on all ranks, in a directory, with or without the connector."""
    script = REPOSITORY / "tools" / "build_hdf5_parallel.sh"
    try:
        mpi = mpis.chosen()
    except mpis.NoMpi as why:
        pytest.skip(str(why))
    if subprocess.run([script, "--is-built", HDF5], check=False).returncode != 0:
        pytest.skip(f"no parallel HDF5 for {mpi}; to build it: tools/{script.name} .deps/{HDF5.name}")
    program = tmp_path_factory.mktemp("program") / "parallel"
    sources = [REPOSITORY / "tests/hdf5/programs" / name for name in ("parallel.c", "yield.c")]
    subprocess.run([mpi.cc, "-O1", "-Wall", "-Wextra", "-Werror", "-rdynamic", *sources, "-o", program,
                    f"-I{HDF5}/include", f"-L{HDF5}/lib", "-lhdf5", f"-Wl,-rpath,{HDF5}/lib"], check=True)

    def run(directory, *cases, place=None, more=None):
        environment = {**os.environ, "MPIEXEC_TIMEOUT": "60", **(more or {})}
        if place is not None:
            reports = directory / "reports"
            reports.mkdir()
            configuration = reports / "config.yaml"
            configuration.write_text(CONFIGURATION.format(place=place, path=reports))
            environment |= run_command.variables(configuration, None, None, {})
            environment["TAILRACE_RUNTIME_DIR"] = str(reports / "run")
        done = subprocess.run(mpi.start(RANKS, program, directory, *cases), env=environment, capture_output=True,
                              text=True, timeout=600, check=False)
        assert done.returncode == 0 and done.stdout.split() == list(cases), done.stdout + done.stderr
        return done.stderr
    return run


@pytest.fixture(scope="module")
def plain(start, tmp_path_factory):
    directory = tmp_path_factory.mktemp("plain")
    start(directory, *CASES)
    return directory


@pytest.fixture(scope="module", params=PLACES)
def carried(request, start, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    start(directory, *CASES, place=request.param)
    return directory


def content(path):
    """Returns everything that a file has, by name."""
    found = {}
    with h5py.File(path) as file:
        def look(name, thing):
            found.update({f"{name}@{key}": value for key, value in thing.attrs.items()})
            if isinstance(thing, h5py.Dataset):
                made = thing.id.get_create_plist()
                found[name] = (thing.dtype, thing.chunks, thing.compression, thing.fillvalue, made.get_fill_time(),
                               made.get_alloc_time(), thing[()].tobytes())
        file.visititems(look)
    return found


def differences(one, other, case):
    """Returns the differences between the files of a case in two directories."""
    names = sorted(path.name for path in one.glob(f"{case}*.h5"))
    assert names and names == sorted(path.name for path in other.glob(f"{case}*.h5"))
    found = []
    for name in names:
        ours, theirs = content(one / name), content(other / name)
        found += [f"{name}: {key}" for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_files_are_those_of_plain_hdf5(plain, carried, case):
    assert differences(carried, plain, case) == []


def test_a_random_program_leaves_what_plain_hdf5_leaves(start, tmp_path):
    seed = int(os.environ.get("TAILRACE_SEED", random.randrange(1 << 31)))
    print("TAILRACE_SEED:", seed)
    for place in (None, *PLACES):
        (tmp_path / str(place)).mkdir()
        start(tmp_path / str(place), "random", place=place, more={"TAILRACE_SEED": str(seed)})
    for place in PLACES:
        assert differences(tmp_path / place, tmp_path / "None", "random") == []


@pytest.mark.parametrize("case, datasets", [("rows", 2), ("tiles", 2), ("columns", 2), ("atomic", 1)])
def test_each_rank_hands_over_its_own_part(carried, case, datasets):
    """Compares the part of atomic.h5 written before others must see each write when it returns."""
    if case != "atomic":
        with h5py.File(carried / f"{case}.h5") as file:
            assert (file["collective"][:] == VALUES).all() and (file["independent"][:] == VALUES + 1000).all()
    reports = [json.loads(path.read_text()) for path in (carried / "reports").glob("*.stats.json")]
    handed_over = [file["bytes_written"] for report in reports for file in report["files"]
                   if file["path"].endswith(f"/{case}.h5")]
    assert handed_over == [datasets * VALUES.nbytes // RANKS] * RANKS


def test_a_rank_that_tailrace_cannot_be_opened_on_writes_by_hdf5(start, tmp_path):
    settings = run_command.variables(None, "thread", "16MiB", {})
    said = start(tmp_path, "unopened", more={**settings, "XDG_RUNTIME_DIR": str(tmp_path)})
    assert said.count("HDF5 writes its data itself") == 1
    with h5py.File(tmp_path / "unopened.h5") as file:
        assert (file["collective"][:] == VALUES).all() and (file["independent"][:] == VALUES + 1000).all()


def test_a_rank_whose_writes_fail_is_told_and_nobody_waits_for_ever(start, tmp_path):
    start(tmp_path, "refused", place="thread")  # in place core the server writes, which has no such limit


@pytest.mark.parametrize("place", PLACES)
def test_a_rank_that_fills_the_disk_is_told(start, small_disk, place):
    start(small_disk, "full", place=place)
