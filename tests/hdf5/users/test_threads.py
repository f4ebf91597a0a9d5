"""Several threads that call one thread-safe HDF5 at once: that of PyTables' wheel, and HDF5 2 built with concurrency,
if tools/hdf5_matrix.py has built that."""

import importlib.util
import pathlib
import subprocess

import pytest
from conftest import REPOSITORY
from hdf5.carried import HDF5, PLACES, environment, execute, without

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


@pytest.fixture(params=[of_wheel, concurrent], ids=["wheel", "concurrency"])
def program(request, tmp_path):
    include, library = request.param()
    made = tmp_path / "threads"
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", PROGRAM, "-o", made, f"-I{include}",
                    library, "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{library.parent}"], check=True)
    return made


@pytest.mark.parametrize("place, close", [(None, None), *((place, "wait") for place in PLACES), ("thread", "detach")])
def test_threads_find_all_that_they_have_written(program, tmp_path, place, close):
    env = environment(tmp_path, place, close=close) if place else without(tmp_path)
    # The headers are those of another release of 1.14.
    assert execute(program, tmp_path, env={**env, "HDF5_DISABLE_VERSION_CHECK": "2"}) == "all is there\n"
