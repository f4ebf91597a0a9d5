"""HDF5 reports what is wrong with a call in the same way with and without the connector: the same exception, for the
same reason."""

import stat
import subprocess
import sys

import pytest
from hdf5.carried import PLACES, as_nobody_special, environment, execute, without

# Prints the result of each call, without addresses and times, which differ anyway.
PROGRAM = r"""
import os, re, sys
import h5py, numpy
os.chdir(sys.argv[1])
data = numpy.zeros((100, 1000))

def attempt(call):
    try:
        call()
        print("done")
    except Exception as error:
        print(type(error).__name__, re.sub(r"0x[0-9a-f]+|time = .*\n", "", str(error)))

file = h5py.File("a.h5", "w")
file["x"] = data
file["x"].attrs["u"] = 1
file["soft"] = h5py.SoftLink("/nowhere")
file["external"] = h5py.ExternalLink("none.h5", "/x")
file.create_group("g")
file.create_dataset("chunks", data.shape, "f8", chunks=(10, 1000), compression=1, maxshape=(None, 1000))
for call in (
    lambda: h5py.File("none.h5", "r"),
    lambda: h5py.File("none.h5", "r+"),
    lambda: h5py.File("made.h5", "a").close(),
    lambda: h5py.File("text", "r"),
    lambda: h5py.File("none/a.h5", "w"),
    lambda: h5py.File(".", "w"),
    lambda: h5py.File("a.h5", "x"),
    lambda: h5py.File("a.h5", "w"),
    lambda: h5py.File("unwritable.h5", "r+"),
    lambda: h5py.File("unwritable.h5", "w"),
    lambda: h5py.File("unreadable.h5", "r"),
    lambda: h5py.File("unwritable/a.h5", "w"),
    lambda: file.create_dataset("x", data=data),
    lambda: file.create_dataset("x/y", data=data),
    lambda: file.create_group("g"),
    lambda: file["nothing"],
    lambda: file["nothing/x"],
    lambda: file["soft"],
    lambda: file["external"],
    lambda: file["x"].attrs["nothing"],
    lambda: file["x"].attrs.modify("u", numpy.zeros(7)),
    lambda: file.pop("nothing"),
    lambda: file.move("nothing", "other"),
    lambda: file.copy("nothing", "other"),
    lambda: file["x"].write_direct(numpy.zeros((3, 3))),
    lambda: file["x"].__setitem__(0, "text"),
    lambda: file["x"].resize((200, 1000)),
    lambda: file["chunks"].resize((200, 2000)),
    lambda: file["x"].id.get_num_chunks(),
    lambda: file["x"].id.write_direct_chunk((0, 0), b"x"),
    lambda: file["chunks"].id.read_direct_chunk((0, 0)),
    lambda: file.create_dataset("too_large", (1 << 62, 1 << 10), "u1"),
    lambda: file.create_dataset("filtered", (1000, 1000), "f8", chunks=(100, 1000), compression=32999),
    lambda: file.close(),
    lambda: file["x"],
):
    attempt(call)
file = h5py.File("a.h5", "r")
attempt(lambda: h5py.File("a.h5", "r+"))
attempt(lambda: file.create_dataset("new", data=data))
attempt(lambda: file["x"].__setitem__(0, 1.0))
file.close()
os.truncate("a.h5", 100000)
attempt(lambda: h5py.File("a.h5", "r"))
"""


def outcome(directory, env):
    """Runs the program in a new directory with files that it may not use."""
    directory.mkdir()
    (directory / "text").write_text("no HDF5")
    (directory / "unwritable").mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    for name, mode in (("unwritable.h5", stat.S_IRUSR), ("unreadable.h5", 0)):
        (directory / name).write_bytes(b"\x89HDF\r\n\x1a\n")
        (directory / name).chmod(mode)
    return execute(*as_nobody_special(), sys.executable, "-c", PROGRAM, directory, env=env).splitlines()


@pytest.mark.parametrize("place", PLACES)
def test_errors_are_those_of_plain_hdf5(tmp_path, place):
    plain = outcome(tmp_path / "plain", without(tmp_path))
    assert len(plain) == 39 and plain[0].startswith("FileNotFoundError") and (tmp_path / "plain/made.h5").exists()
    assert outcome(tmp_path / "ours", environment(tmp_path, place)) == plain


@pytest.mark.parametrize("package, code", [
    ("h5py", "h5py.File('a.h5', 'w')"), ("netCDF4", "netCDF4.Dataset('a.nc', 'w')"),
    ("tables", "tables.open_file('a.h5', 'w')")])
def test_a_wrong_word_for_the_connector_is_an_exception(tmp_path, package, code):
    """The variables are set by hand, as `tailrace run` would not."""
    pytest.importorskip(package)
    done = subprocess.run([sys.executable, "-c", f"import {package}; {code}"], cwd=tmp_path, timeout=600, text=True,
                          env={**environment(tmp_path), "HDF5_VOL_CONNECTOR": "tailrace place=nowhere"},
                          capture_output=True)
    assert done.returncode == 1 and "found 'place=nowhere', expected" in done.stderr, done.stderr
