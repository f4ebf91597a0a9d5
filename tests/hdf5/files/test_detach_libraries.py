"""`close=detach` and what libraries do with a file that they have just closed: check that it exists, open it again,
append to it, read it through links, rename it, remove it. The file is large enough to be still on its way.
"""

import os

import pytest
from hdf5.carried import environment, python, without
from hdf5.detached import lacks_seal

COUNT = 1_000_000  # numbers of 8 bytes

# For each library: how it creates a file with the variable "a", adds "b" to it, and reads one.
LIBRARIES = {
    "h5py": """
import h5py
def make(name):
    with h5py.File(name, "w") as file:
        file["a"] = values
def append(name):
    with h5py.File(name, "a") as file:
        file["b"] = values + 1
def read(name, variable):
    with h5py.File(name) as file:
        return file[variable][:]
""",
    "netCDF4": """
import netCDF4
def put(name, mode, variable, data):
    with netCDF4.Dataset(name, mode) as file:
        file.createDimension("n" + variable, len(data))
        file.createVariable(variable, "f8", ("n" + variable,))[:] = data
def make(name):
    put(name, "w", "a", values)
def append(name):
    put(name, mode, "b", values + 1)
def read(name, variable):
    with netCDF4.Dataset(name) as file:
        return file[variable][:].filled()
""",
    "xarray": """
import xarray
def put(name, mode, variable, data):
    xarray.Dataset({variable: ("n", data)}).to_netcdf(name, mode=mode, engine="netcdf4")
def make(name):
    put(name, "w", "a", values)
def append(name):
    put(name, "a", "b", values + 1)
def read(name, variable):
    with xarray.open_dataset(name) as file:
        return file[variable].values
""",
    "pandas": """
import pandas
def make(name):
    pandas.DataFrame({"x": values}).to_hdf(name, key="a")
def append(name):
    pandas.DataFrame({"x": values + 1}).to_hdf(name, key="b")
def read(name, variable):
    return pandas.read_hdf(name, variable)["x"].values
""",
    "tables": """
import tables
def put(name, mode, variable, data):
    with tables.open_file(name, mode) as file:
        file.create_array("/", variable, data)
def make(name):
    put(name, "w", "a", values)
def append(name):
    put(name, mode, "b", values + 1)
def read(name, variable):
    with tables.open_file(name) as file:
        return file.get_node("/", variable)[:]
"""}

# The actions of a program after it has created "x", of which nothing is written yet, and the expected result.
SEQUENCES = {
    "reopen": ("pass", "x", ["a"]),
    "append": ("append('x')", "x", ["a", "b"]),
    "rename": ("os.rename('x', 'y')", "y", ["a"]),
    "rename and append": ("os.rename('x', 'y'); append('y')", "y", ["a", "b"]),
    "rename and make anew": ("os.rename('x', 'y'); make('x'); append('x')", "y", ["a"]),
    "make anew": ("make('x'); append('x')", "x", ["a", "b"]),
    "remove and make anew": ("os.remove('x'); make('x')", "x", ["a"]),
    "replace": ("make('y'); os.replace('x', 'y'); append('y')", "y", ["a", "b"]),
    "remove a directory": ("os.mkdir('d'); make('d/x'); shutil.rmtree('d'); os.mkdir('d'); make('d/x')", "d/x",
                           ["a"]),
}

PROGRAM = """
import os, shutil, sys
import numpy
values = numpy.arange({count}.0)
mode = {mode!r}
{library}
make("first")
print("made", flush=True)
make("x")
print(os.path.exists("x"), os.path.getsize("x") > values.nbytes, flush=True)
{sequence}
for variable in {variables}:
    print((read({name!r}, variable) == values + (variable == "b")).all())
print(sorted(os.listdir(".")))
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory; the connector's files are elsewhere."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def carried(tmp_path, code):
    """Returns what the program, whose files are closed without waiting, prints after "made"."""
    return python(code, env=environment(tmp_path, budget="128MiB", close="detach")).splitlines()[1:]


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_what_libraries_do_with_a_file_that_was_just_closed(tmp_path, here, library, sequence):
    pytest.importorskip("tables" if library == "pandas" else library, reason=f"{library} is not installed")
    pytest.importorskip(library, reason=f"{library} is not installed")
    work, name, variables = SEQUENCES[sequence]
    said = carried(tmp_path, PROGRAM.format(count=COUNT, library=LIBRARIES[library], sequence=work, name=name,
                                            variables=variables, mode="a"))
    assert said[:-1] == ["True True"] + ["True"] * len(variables)
    assert "partial" not in said[-1]
    for path in here.rglob("*"):
        assert path.is_dir() or not lacks_seal(path), path


@pytest.mark.parametrize("library", ["netCDF4", "tables"])
def test_a_file_that_must_be_there_is_found(tmp_path, here, library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    said = carried(tmp_path, PROGRAM.format(count=COUNT, library=LIBRARIES[library], sequence="append('x')", name="x",
                                            variables=["a", "b"], mode="r+"))
    assert said[:3] == ["True True", "True", "True"]


def test_what_is_removed_stays_so(tmp_path, here):
    """And that is not a failure."""
    said = carried(tmp_path, """
import os, shutil, sys
import h5py, numpy
def make(name):
    with h5py.File(name, "w") as file:
        file["a"] = numpy.arange(1000000.0)
make("first")
print("made", flush=True)
os.mkdir("d")
make("x")
make("d/x")
os.remove("x")
shutil.rmtree("d")
print(os.listdir("."), flush=True)
""")
    assert said == ["['first']"] and os.listdir(here) == ["first"]


# The same program created them; each "src" is on its way when the last lines read through links.
LINKED = """
import os, sys
import h5py, numpy
from h5py import h5o
def make(name, value):
    with h5py.File(name, "w") as file:
        file["g/data"] = numpy.full(1000000, value)
layout = h5py.VirtualLayout((3, 1000000), "f8")
for number in range(3):
    layout[number] = h5py.VirtualSource(f"src{number}", "g/data", (1000000,))
with h5py.File("outer", "w") as file:
    for number in range(3):
        file[f"link{number}"] = h5py.ExternalLink(f"src{number}", "/g")
    file.create_virtual_dataset("v", layout, fillvalue=-1)
make("first", 0.0)
print("made", flush=True)
"""

READERS = {
    "virtual dataset": "print(h5py.File('outer')['v'][:, 999999].tolist())",
    "virtual dataset that was open": "print(opened['v'][:, 999999].tolist())",
    "external link": "print([h5py.File('outer')[f'link{n}/data'][999999] for n in range(3)])",
    "external link that was open": "print([opened[f'link{n}']['data'][999999] for n in range(3)])",
    "is it there": "print([('link%d' % n in opened) and ('link%d/data' % n in opened) for n in range(3)])",
    "get": "print([opened.get(f'link{n}/data')[0] for n in range(3)])",
    "attribute": "print([h5py.h5a.exists(opened.id, b'a', obj_name=b'link0/data')])",
    "iterate": "print(list(opened['link2']))",
    "visit by name": "found = []; h5o.visit(opened.id, found.append, obj_name=b'link1'); print(found)",
    "copy": "opened.copy('link1/data', out); print(out['data'][5])",
    "make there": "opened['link1'].create_group('new'); print(list(opened['link1']))",
}


@pytest.mark.parametrize("reader", READERS)
def test_links_lead_to_files_that_were_just_closed(tmp_path, here, reader):
    text = LINKED + "opened = h5py.File('outer', 'r+')\nout = h5py.File('out', 'w')\n"
    if "that was open" not in reader and "opened" not in READERS[reader]:
        text = LINKED
    closing = "for number in range(3):\n    make(f'src{number}', number + 1.0)\n"
    plain = text + closing + READERS[reader]
    ours = text + closing + "print('closed', flush=True)\n" + READERS[reader]
    # With plain HDF5, in a separate directory.
    (tmp_path / "plain").mkdir()
    expected = python(plain, env=without(tmp_path), cwd=tmp_path / "plain")
    assert carried(tmp_path, ours) == ["closed", *expected.splitlines()[1:]]


def test_links_lead_to_files_that_are_open(tmp_path, here):
    """And to files that are on their way."""
    assert carried(tmp_path, LINKED + """
sources = [h5py.File(f"src{n}", "w") for n in range(3)]
for n, file in enumerate(sources):
    file["g/data"] = numpy.full(1000000, n + 1.0)
print("written", flush=True)
with h5py.File("outer") as outer:
    print(outer["v"][:, 999999].tolist(), [outer[f"link{n}/data"][999999] for n in range(3)])
""") == ["written", "[1.0, 2.0, 3.0] [np.float64(1.0), np.float64(2.0), np.float64(3.0)]"]


def test_a_forked_child_finds_whole_files(tmp_path, here):
    """The fork waits for them, since the child could not."""
    assert carried(tmp_path, LINKED + """
for number in range(3):
    make(f"src{number}", number + 1.0)
print("closed", flush=True)
child = os.fork()
if child == 0:
    print(h5py.File("outer")["v"][:, 999999].tolist(), h5py.File("src1")["g/data"][5], flush=True)
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
""") == ["closed", "[1.0, 2.0, 3.0] 2.0"]


def test_two_libraries_in_a_process(tmp_path, here):
    """Each has its own HDF5: one waits for files that the other has closed."""
    pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    assert carried(tmp_path, """
import sys
import h5py, netCDF4, numpy
with netCDF4.Dataset("first", "w") as file:
    file.createDimension("n", 1000000)
    file.createVariable("a", "f8", ("n",))[:] = 1.0
print("made", flush=True)
with netCDF4.Dataset("x", "w") as file:
    file.createDimension("n", 1000000)
    file.createVariable("a", "f8", ("n",))[:] = 1.0
print("closed", flush=True)
with h5py.File("x", "r+") as file:
    file["a"][:] = 2.0
with netCDF4.Dataset("x") as file:
    print((file["a"][:] == 2.0).all())
""") == ["closed", "True"]
