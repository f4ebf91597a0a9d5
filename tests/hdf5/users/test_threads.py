"""Several threads that call one thread-safe HDF5 at once, or two: that of PyTables' wheel, and HDF5 2 built with
concurrency, if tools/hdf5_matrix.py has built that."""

import importlib.util
import pathlib
import subprocess

import pytest
from conftest import REPOSITORY
from hdf5.carried import HDF5, PLACES, environment, execute, python, without

PROGRAM = REPOSITORY / "tests/hdf5/programs/threads.c"
CONCURRENT = REPOSITORY / ".deps/hdf5-matrix/2.2.0-concurrency"


def of_wheel():
    """Returns the headers and the library; PyTables' wheel has no headers."""
    found = importlib.util.find_spec("tables")
    if found is None or not (HDF5 / "include").exists():
        pytest.skip("no PyTables, or no .deps/hdf5-tests: tools/build_hdf5_tests.sh makes it")
    wheels = pathlib.Path(found.origin).parents[1]
    return HDF5 / "include", next((wheels / "tables.libs").glob("libhdf5-*.so*"))


def concurrent():
    if not (CONCURRENT / "include").exists():
        pytest.skip(f"no .deps/hdf5-matrix/{CONCURRENT.name}: tools/hdf5_matrix.py makes it")
    return CONCURRENT / "include", CONCURRENT / "lib/libhdf5.so"


def compile_for(include, library, made, *options):
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", *options, PROGRAM, "-o", made,
                    f"-I{include}", library, "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{library.parent}"],
                   check=True)
    return made


def variables(directory, place, close="wait"):
    env = environment(directory, place, close=close) if place else without(directory)
    return {**env, "HDF5_DISABLE_VERSION_CHECK": "2"}  # the headers are those of another release of 1.14


@pytest.mark.parametrize("place, close", [(None, None), *((place, "wait") for place in PLACES), ("thread", "detach")])
@pytest.mark.parametrize("hdf5", [of_wheel, concurrent])
def test_threads_find_all_that_they_have_written(tmp_path, hdf5, place, close):
    program = compile_for(*hdf5(), tmp_path / "threads")
    assert execute(program, tmp_path, env=variables(tmp_path, place, close)) == "4 threads found all\n"


# Runs the program as a library, once for each HDF5, in threads of their own.
BOTH = """
import ctypes, os, sys, threading
def run(library, directory):
    arguments = (ctypes.c_char_p * 3)(b"threads", directory.encode(), None)
    assert ctypes.CDLL(library, mode=os.RTLD_LOCAL | os.RTLD_DEEPBIND).run(2, arguments) == 0
threads = [threading.Thread(target=run, args=each) for each in zip(sys.argv[1::2], sys.argv[2::2])]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize("place", [None, *PLACES])
def test_threads_of_two_libraries_leave_each_others_files_alone(tmp_path, place):
    arguments = []
    for name, hdf5 in ("wheel", of_wheel), ("other", lambda: (HDF5 / "include", HDF5 / "lib/libhdf5.so")):
        (tmp_path / name).mkdir()
        made = compile_for(*hdf5(), tmp_path / f"{name}.so", "-shared", "-fPIC", "-Dmain=run")
        arguments += [made, tmp_path / name]
    said = python(BOTH, *arguments, env=variables(tmp_path, place))
    assert sorted(said.splitlines()) == ["1 threads found all", "4 threads found all"]
