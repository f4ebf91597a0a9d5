"""Every function of MPI that concerns files is in the table bindings/mpiio/calls/file_calls.def: a call that the
library for MPI-IO does not know would pass by what is on its way. The functions are those of the standard, of each
MPI's header, of its libraries, and those that its Fortran calls."""

import pathlib
import re
import subprocess

import pytest
from tailrace.cli import run as run_command

REPOSITORY = pathlib.Path(__file__).parents[3]
TABLE = REPOSITORY / "bindings/mpiio/calls/file_calls.def"
HOWS = ("carried", "settles", "own", "left")

# MPI 3.1, §13, and A.2.11.
ACCESSES = {f"File_{begin}{word}" for word in ("read", "write")
            for begin in ("", "i")} | {
    f"File_{word}{form}" for word in ("read", "write", "iread", "iwrite")
    for form in ("_at", "_all", "_at_all", "_shared")} | {
    f"File_{word}{form}" for word in ("read", "write") for form in ("_ordered",)} | {
    f"File_{word}{form}_begin" for word in ("read", "write") for form in ("_all", "_at_all", "_ordered")}
OTHERS = {f"File_{name}" for name in (
    "open close delete set_size preallocate get_size get_group get_amode set_info get_info set_view get_view seek "
    "get_position get_byte_offset seek_shared get_position_shared get_type_extent set_atomicity get_atomicity sync "
    "create_errhandler set_errhandler get_errhandler call_errhandler c2f f2c read_all_end write_all_end "
    "read_at_all_end write_at_all_end read_ordered_end write_ordered_end").split()} | {"Register_datarep"}
# MPI 4.0 adds large counts, MPI 5.0 conversions of handles.
STANDARD = ACCESSES | OTHERS | {f"{name}_c" for name in ACCESSES | {"File_get_type_extent", "Register_datarep"}} | {
    "File_fromint", "File_toint"}

# The libraries of an MPI, by the names that distributions and the MPIs give them.
LIBRARIES = {"mpich": ("libmpi.so.12", "libmpich*.so.12", "libmpifort.so.12", "libmpicxx.so.12"),
             "openmpi": ("libmpi.so.40", "libmpi_*.so.40")}
# What else of an MPI's libraries has a name like that: objects, and functions that one library of it has for another.
OBJECTS = re.compile(r"ompi_mpi_file_null|ompi_registered_datareps|mpi_file_null_|MPIR_F08_MPI_FILE_NULL\w*")


def read_table():
    """Returns how each function is treated."""
    found = {}
    for line in TABLE.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, how, why = line.split(maxsplit=2)
        assert how in HOWS and (why != "-") == (how in ("own", "left")), line
        for full in {name.replace("[_c]", ""), name.replace("[_c]", "_c")}:
            assert full not in found, line
            found[full] = how
    return found


def concerns_files(name):
    return re.search(r"file_|datarep", name, re.IGNORECASE) is not None


def names(words):
    """Returns the functions among the words, without MPI_ and PMPI_."""
    return {match[1] for word in words if (match := re.fullmatch(r"P?MPI_(\w+)", word)) and concerns_files(word)}


def symbols(path, *options):
    listed = subprocess.run(["nm", "-D", *options, path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines() if line}


def libraries(mpi, tmp_path):
    """Returns the paths of an MPI's libraries: those beside the one that its programs are linked to."""
    (tmp_path / "empty.c").write_text("#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
    subprocess.run([mpi.cc, tmp_path / "empty.c", "-o", tmp_path / "empty"], check=True)
    linked = subprocess.run(["ldd", tmp_path / "empty"], capture_output=True, text=True, check=True).stdout
    folder = pathlib.Path(re.search(r"=> (\S*/libmpi(?:ch)?\.so\S*)", linked)[1]).parent
    return sorted({path for pattern in LIBRARIES[mpi.name] for path in folder.glob(pattern)})


def is_core(path):
    """Returns True for the library that has the functions of C."""
    return path.name.startswith(("libmpi.so", "libmpich.so"))


def test_the_table_has_the_functions_of_the_standard():
    assert set(read_table()) == STANDARD


def test_the_table_has_those_that_the_header_declares(mpi):
    command = [mpi.cc, "-include", "mpi.h", "-E", "-P", "-x", "c", "/dev/null"]
    declared = names(re.findall(r"\b(P?MPI_\w+)\s*\(", subprocess.run(command, capture_output=True, text=True,
                                                                      check=True).stdout))
    assert "File_write_at_all" in declared
    assert declared - set(read_table()) == set()


def test_the_table_has_those_of_the_libraries(mpi, tmp_path):
    defined = set().union(*(symbols(path, "--defined-only") for path in libraries(mpi, tmp_path) if is_core(path)))
    assert "MPI_File_write_at_all" in defined
    assert names(defined) - set(read_table()) == set()
    # Also those that might be named otherwise: MPIX_File_…, MPIO_File_….
    others = {name for name in defined if re.match(r"P?MPI\w?_\w*(File|datarep)", name)}
    assert {name for name in others if not re.match(r"P?MPI_", name)} == set()


def test_fortran_and_cpp_call_nothing_else(mpi, tmp_path):
    """They call functions of the table, or such of other libraries of theirs, which do so."""
    found = libraries(mpi, tmp_path)
    own = {path: symbols(path, "--defined-only") for path in found}
    around = [path for path in found if not is_core(path)]
    if not around:
        pytest.skip("the MPI has no Fortran here")
    defined = set().union(*(own[path] for path in around))
    called = {name for path in around for name in symbols(path, "--undefined-only") if concerns_files(name)}
    known = {f"{begin}{name}" for name in read_table() for begin in ("MPI_", "PMPI_")}
    assert called, "no library of the MPI calls one for files"
    assert {name for name in called - defined - known if not OBJECTS.fullmatch(name)} == set()


def test_the_library_exports_those_in_which_it_has_a_part(mpi):
    library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
    if not library.is_file():
        pytest.skip(f"there is no {library.name}")
    exported = {name for name in symbols(library, "--defined-only") if concerns_files(name)}
    expected = {f"{begin}{name}" for name, how in read_table().items() if how != "left"
                for begin in ("MPI_", "PMPI_")}
    assert exported == expected
