"""The failure of an earlier block is reported by the next call, which has been carried out: what it returns is not
lost.
Each method of a client, its files and tickets is in a list here, or the test fails."""

from __future__ import annotations

import contextlib
import gc
import os
import time

import h5py
import numpy as np
import pytest
import tailrace

BLOCK = np.arange(12.0).reshape(3, 4)

# Calls that report earlier failures, each with what it is called with.
CLIENT = {
    "write": lambda out: out.write("a", 1, BLOCK),
    "alloc": lambda out: out.alloc("b", 1),
    "commit": lambda out: out.commit("made", 1),
    "borrow": lambda out: out.borrow("lent", 1, BLOCK),
    "end_iteration": lambda out: out.end_iteration(2),
    "attribute": lambda out: out.attribute(1, "made_by", "a test"),
    "signal": lambda out: out.signal("event", 1),
    "set_parameters": lambda out: out.set_parameters(n=5, dx=0.25),
    "enable": lambda out: out.enable("off"),
    "flush": lambda out: out.flush(),
    "read": lambda out: out.read("kept", 1),
}
FILE = {
    "write": lambda raw: raw.write(BLOCK, 4096),
    "write_list": lambda raw: raw.write_list(BLOCK, [(8192, 96)]),
    "read": lambda raw: raw.read(np.zeros(12), 0),
    "read_list": lambda raw: raw.read_list(np.zeros(12), [(0, 96)]),
    "sync": lambda raw: raw.sync(),
    "close": lambda raw: raw.close(),
}
# What never reports any, as tailrace.h says; what only asks; and closing, which returns nothing.
SILENT = {"client", "close", "closed", "describe", "file_stats", "last_iteration", "last_time", "open_file", "path",
          "remove_file", "stats", "variable", "variable_stats", "variables", "size", "truncate", "allocate"}


def test_every_method_is_listed():
    def public(kind):
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(tailrace.Client) == set(CLIENT) | (SILENT & public(tailrace.Client))
    assert public(tailrace.File) == set(FILE) | (SILENT & public(tailrace.File))
    assert public(tailrace.Ticket) == {"wait", "test"}  # of their own requests


@pytest.fixture
def out(tmp_path):
    """A client with a block of iteration 1."""
    declared = {name: BLOCK for name in ("a", "b", "made", "lent", "kept")}
    declared["off"] = tailrace.Variable("float64", (3, 4), enabled=False)
    declared["long"] = tailrace.Variable("float64", ("n",), spacing=["dx"])
    client = tailrace.open({"tailrace": 1, "name": "sim", "storage": {"path": str(tmp_path)},
                            "log": {"level": "off"}},
                           variables=declared, budget="4 MiB", parameters={"n": 4, "dx": 0.5})
    client.write("kept", 1, BLOCK + 1)
    yield client
    if not client.closed:
        with contextlib.suppress(tailrace.Error):
            client.close()


def fail(client, folder):
    """Lets iteration 0 fail: its block and its file do, and no call has told of the file."""
    (folder / "sim_c0_000000.h5.part").mkdir()
    client.write("a", 0, BLOCK)
    with contextlib.suppress(tailrace.Error):
        client.end_iteration(0)
    limit = time.monotonic() + 600
    while client.stats()["failures"] < 2:
        assert time.monotonic() < limit, client.stats()
        os.sched_yield()


def drain(client):
    """Lets all failures be told."""
    while client.stats()["failures_unseen"] > 0:
        with pytest.raises(tailrace.Error):
            client.flush()


def call(client, folder, function, of):
    """Calls, and returns the earlier failure that the call reports."""
    fail(client, folder)
    with pytest.raises(tailrace.Error) as caught:
        function(of)
    assert caught.value.earlier, caught.value
    drain(client)
    return caught.value


@pytest.mark.parametrize("name", CLIENT)
def test_what_a_client_returns_is_not_lost(out, tmp_path, name):
    built = out.alloc("made", 1)
    built[...] = BLOCK + 2
    error = call(out, tmp_path, CLIENT[name], out)
    assert (error.array is not None) == (name in ("alloc", "read"))
    assert (error.ticket is not None) == (name == "borrow")
    if name == "alloc":
        assert out.alloc("b", 1) is error.array
        error.array[...] = BLOCK + 3
        out.commit("b", 1)
    elif name == "read":
        np.testing.assert_array_equal(error.array, BLOCK + 1)
    elif name == "borrow":
        error.ticket.wait()
    elif name == "enable":
        out.write("off", 1, BLOCK + 4)
    if name != "commit":
        out.commit("made", 1)
    out.write("long", 1, np.zeros(5 if name == "set_parameters" else 4))
    out.end_iteration(1)
    out.close()
    with h5py.File(tmp_path / "sim_c0_000001.h5") as file:
        meshes = file["data/1/meshes"]
        more = {"write": {"a": 0}, "alloc": {"b": 3}, "borrow": {"lent": 0}, "enable": {"off": 4}}.get(name, {})
        assert set(meshes) == {"kept", "made", "long", *more}
        for variable, plus in {"kept": 1, "made": 2, **more}.items():
            np.testing.assert_array_equal(meshes[variable], BLOCK + plus)
        assert meshes["long"].attrs["gridSpacing"] == [0.25 if name == "set_parameters" else 0.5]
        assert ("made_by" in file["data/1"].attrs) == (name == "attribute")


@pytest.mark.parametrize("name", FILE)
def test_what_a_file_returns_is_not_lost(out, tmp_path, name):
    raw = out.open_file("raw")
    raw.write(BLOCK, 0)
    error = call(out, tmp_path, FILE[name], raw)
    if name.startswith("read"):
        np.testing.assert_array_equal(error.array, BLOCK.ravel())
    else:
        assert error.array is None
    assert raw.closed == (name == "close")
    out.end_iteration(1)
    out.close()
    offset = {"write": 4096, "write_list": 8192}.get(name, 0)
    assert (tmp_path / "raw").read_bytes()[offset:] == BLOCK.tobytes()


def test_a_borrow_that_tells_of_a_forgotten_loan_has_its_ticket(out, tmp_path):
    """Nobody has the ticket of the block that failed: the next borrow tells of it."""
    (tmp_path / "sim_c0_000000.h5.part").mkdir()
    out.borrow("lent", 0, BLOCK)
    gc.collect()
    limit = time.monotonic() + 600
    while out.stats()["blocks_failed"] == 0:
        assert time.monotonic() < limit, out.stats()
        os.sched_yield()
    with pytest.raises(tailrace.Error) as caught:
        out.borrow("lent", 1, BLOCK)
    assert caught.value.earlier and caught.value.ticket is not None
    caught.value.ticket.wait()


def test_a_commit_that_is_refused_leaves_the_array(out):
    """Here it is refused in a child, whose parent's array it is."""
    array = out.alloc("b", 1)
    child = os.fork()
    if child == 0:
        try:
            out.commit("b", 1)
        except tailrace.Error:
            os._exit(7 if array.flags.writeable else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    out.commit("b", 1)
    assert not array.flags.writeable
