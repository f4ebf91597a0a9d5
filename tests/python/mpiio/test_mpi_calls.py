"""The table of the functions of MPI, by which the library for MPI-IO makes progress in calls that wait."""

import importlib.util
import pathlib
import subprocess

import pytest
from tailrace.cli import run as run_command

CALLS = pathlib.Path(__file__).parents[3] / "bindings/mpiio/calls"
spec = importlib.util.spec_from_file_location("define_calls", CALLS / "define_calls.py")
define_calls = importlib.util.module_from_spec(spec)
spec.loader.exec_module(define_calls)
ROWS = define_calls.read_table(CALLS / "mpi_calls.def")

GENERATED = ("begin_alone", "begin_all", "meet", "meet_window", "make_window", "buffered", "test")


def test_the_table_has_every_function_of_the_mpi(mpi):
    unknown = [name for name in define_calls.declared([mpi.cc]) if define_calls.row_of(ROWS, name) is None]
    assert not unknown, f"may these wait for another process, and does it learn something by them? {unknown}"


def test_a_function_that_the_table_lacks_is_found(mpi, tmp_path):
    (tmp_path / "mpi.h").write_text("#include_next <mpi.h>\nint MPI_Wait_for_more(MPI_Comm comm, int a[][3]);\n")
    functions = define_calls.declared([mpi.cc, f"-I{tmp_path}"])
    assert functions["Wait_for_more"].arguments() == ["comm", "a"]
    assert define_calls.row_of(ROWS, "Wait_for_more") is None


def test_a_call_that_waits_makes_progress_or_says_why_not():
    for name, row in ROWS.items():
        assert row.how in (*GENERATED, "pass", "left", "own", "elsewhere"), name
        assert not row.waits or row.how not in ("pass", "test"), f"{name} makes progress at its begin alone"
        assert row.how not in ("left", "elsewhere") or row.why, name


def test_the_library_stands_in_front_of_what_the_table_says(mpi):
    library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
    if not library.is_file():
        pytest.skip(f"the library for {mpi.name} is not built")
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    defined = {line.split()[-1] for line in listing.stdout.splitlines()}
    for name in define_calls.declared([mpi.cc]):
        row = define_calls.row_of(ROWS, name)
        if row.how != "elsewhere":
            assert {f"MPI_{name}" in defined, f"PMPI_{name}" in defined} == {define_calls.is_defined(row)}, name
