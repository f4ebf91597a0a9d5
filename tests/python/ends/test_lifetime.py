"""Lifetimes: which clients, views and borrowed arrays keep which alive; and what happens at the end of each."""

import gc
import multiprocessing
import os
import signal
import threading
import weakref

import numpy as np
import pytest
import tailrace
from conftest import CONFIG
from tailrace import Status

ARRAY = np.arange(24.0).reshape(4, 6)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def test_with_closes(config, out):
    with tailrace.open(config()) as client:
        client.write("temperature", 0, ARRAY)
        client.end_iteration(0)
    assert client.closed and [file.name for file in out.iterdir()] == ["sim_c0_000000.h5"]


def test_close_inside_with(config):
    with tailrace.open(config()) as client:
        client.close()
    assert client.closed


def test_the_exception_of_the_body_is_not_masked(config):
    with pytest.raises(KeyError, match="body") as caught:
        with tailrace.open(config()) as client:
            client.write("temperature", 0, ARRAY)  # not ended, so close has something to report
            raise KeyError("body")
    assert client.closed
    if hasattr(caught.value, "add_note"):
        assert any("tailrace, while closing" in note for note in caught.value.__notes__)


def test_the_failure_of_close_is_raised_where_the_body_did_not(config):
    with pytest.raises(tailrace.Error):
        with tailrace.open(config()) as client:
            client.write("temperature", 0, ARRAY)


def test_a_client_that_is_forgotten_warns_and_writes(config, out):
    client = tailrace.open(config())
    client.write("temperature", 0, ARRAY)
    client.end_iteration(0)
    with pytest.warns(ResourceWarning, match="not closed"):
        del client
        gc.collect()
    assert [file.name for file in out.iterdir()] == ["sim_c0_000000.h5"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_failure_of_a_forgotten_client_is_not_silent(config, python):
    result = python("import sys, tailrace, numpy\n"
                    "client = tailrace.open(sys.argv[1])\n"
                    "client.write('temperature', 0, numpy.ones((4, 6)))\n"
                    "del client\n", config())
    assert "tailrace.Error" in result.stderr and "Exception ignored" in result.stderr, result


def test_a_client_open_at_exit_is_closed(config, out, python):
    result = python("import sys, tailrace, numpy\n"
                    "client = tailrace.open(sys.argv[1])\n"
                    "client.write('temperature', 0, numpy.ones((4, 6)))\n"
                    "client.end_iteration(0)\n"
                    "client.write('temperature', 1, numpy.ones((4, 6)))\n", config())
    assert result.returncode == 0 and "while closing at exit" in result.stderr, result
    assert (out / "sim_c0_000000.h5").exists() and not (out / "sim_c0_000001.h5").exists()


# ---- fork --------------------------------------------------------------------------------------------------------

# What a child of os.fork() may try with its parent's client; each call raises tailrace.Error at once.
VERBS = {"write": lambda of, ticket: of.write("temperature", 1, ARRAY),
         "alloc": lambda of, ticket: of.alloc("pressure", 1),
         "commit": lambda of, ticket: of.commit("pressure", 0),
         "borrow": lambda of, ticket: of.borrow("density", 1, ARRAY),
         "end_iteration": lambda of, ticket: of.end_iteration(0),
         "signal": lambda of, ticket: of.signal("event", 0), "flush": lambda of, ticket: of.flush(),
         "read": lambda of, ticket: of.read("temperature", 0), "stats": lambda of, ticket: of.stats(),
         "variable": lambda of, ticket: of.variable("density"), "describe": lambda of, ticket: of.describe(),
         "open_file": lambda of, ticket: of.open_file("raw"), "close": lambda of, ticket: of.close(),
         "set_parameters": lambda of, ticket: of.set_parameters(n=1),
         "enable": lambda of, ticket: of.enable("density"),
         "wait": lambda of, ticket: ticket.wait(), "test": lambda of, ticket: ticket.test()}


def in_child(body):
    """Returns what ``body`` raises in a child of os.fork(), as text; kills a child that hangs."""
    ends = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        said = "nothing was raised"
        try:
            body()
        except BaseException as error:
            said = f"{getattr(error, 'code', None)!s}: {type(error).__name__}: {error}"
        os.write(ends[1], said.encode())
        os._exit(0)
    os.close(ends[1])
    with os.fdopen(ends[0]) as told:
        said = told.read()
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the child ended with {status}, and said: {said}"
    return said


@pytest.fixture(params=["thread", "core"])
def placed(request, tmp_path, out, runtime_directory):
    """Writes a configuration for each place."""
    file = tmp_path / "placed.yaml"
    file.write_text(CONFIG.format(path=out, existing="refuse", budget="4 MiB", when_full="block", backend="auto",
                                  durability="written") + f"place: {{kind: {request.param}, cpus: none}}\n")
    return file


def test_each_verb_of_a_child_is_an_error(placed, out):
    with tailrace.open(placed) as client:
        client.write("temperature", 0, ARRAY)
        client.alloc("pressure", 0)[:] = ARRAY
        ticket = client.borrow("density", 0, ARRAY)
        for name, verb in VERBS.items():
            said = in_child(lambda: verb(client, ticket))
            assert "FORKED" in said and f"belongs to process {os.getpid()}, which opened it" in said, (name, said)
        client.commit("pressure", 0)
        client.end_iteration(0)
    assert [file.name for file in out.glob("*.h5")] == ["sim_c0_000000.h5"]


def test_a_raw_file_of_the_parents_is_an_error(placed):
    with tailrace.open(placed) as client, client.open_file("raw") as file:
        for verb in (lambda: file.write(b"bytes", 0), lambda: file.read(bytearray(3), 0), file.sync, file.close):
            assert "FORKED" in in_child(verb)
        assert in_child(lambda: file.__exit__(None, None, None)) == "nothing was raised"
        file.write(b"the parent's", 0)


def test_a_child_leaves_the_with_block(placed, out):
    with tailrace.open(placed) as client:
        client.write("temperature", 0, ARRAY)
        assert in_child(lambda: client.__exit__(None, None, None)) == "nothing was raised"
        client.end_iteration(0)
    assert [file.name for file in out.glob("*.h5")] == ["sim_c0_000000.h5"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_fork_leaves_the_client_alone(placed, out):
    with tailrace.open(placed) as client:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            del client  # would wait for ever for a writer that is not in this process
            gc.collect()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        client.write("temperature", 0, ARRAY)
        client.end_iteration(0)
    assert (out / "sim_c0_000000.h5").exists()


# The complete end of an interpreter: with blocks, functions registered to run at exit, and objects collected last.
AT_EXIT = """
import gc, os, signal, sys
import numpy, tailrace
with tailrace.open(sys.argv[1]) as out:
    out.write("temperature", 0, numpy.ones((4, 6)))
    ticket = out.borrow("density", 0, numpy.ones((4, 6)))
    view = out.alloc("pressure", 0)
    view[:] = 1
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        {child}
        sys.exit(7)
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    out.commit("pressure", 0)
    out.end_iteration(0)
"""


OPENS_ITS_OWN = ("own = tailrace.open(sys.argv[1], 1); own.write('temperature', 0, numpy.ones((4, 6))); "
                 "own.end_iteration(0)")


@pytest.mark.parametrize("child", ["pass", "del out, view, ticket; gc.collect()",
                                   OPENS_ITS_OWN],
                         ids=["uses nothing", "deletes", "opens its own"])
def test_the_end_of_a_child(placed, out, python, child):
    result = python(AT_EXIT.replace("{child}", child), placed)
    assert result.returncode == 0 and "child 7" in result.stdout, result
    assert "Error" not in result.stderr and "closing" not in result.stderr, result
    files = ["sim_c0_000000.h5"] + (["sim_c1_000000.h5"] if "own" in child else [])
    assert sorted(file.name for file in out.glob("*.h5")) == files


def test_multiprocessing_by_fork(placed, out):
    context = multiprocessing.get_context("fork")
    with tailrace.open(placed) as client:
        client.write("temperature", 0, ARRAY)
        with context.Pool(2) as pool:
            assert pool.map(abs, range(-4, 0)) == [4, 3, 2, 1]
        process = context.Process(target=client.flush)  # its error ends it
        process.start()
        process.join(60)
        assert process.exitcode == 1
        client.end_iteration(0)
    assert (out / "sim_c0_000000.h5").exists()


def test_a_view_is_memory_of_the_pool(config):
    with tailrace.open(config()) as client:
        view = client.alloc("pressure", 0)
        assert view.flags.writeable and view.flags.c_contiguous and not view.flags.owndata
        assert view.ctypes.data % 64 == 0
        again = client.alloc("pressure", 0)
        assert again.ctypes.data == view.ctypes.data
        client.commit("pressure", 0)
        client.end_iteration(0)


def test_a_view_is_read_only_after_commit(config):
    with tailrace.open(config()) as client:
        view = client.alloc("pressure", 0)
        again = client.alloc("pressure", 0)
        view[:] = 1
        client.commit("pressure", 0)
        for array in (view, again):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 2
        client.end_iteration(0)


def test_a_view_is_read_only_after_close(config):
    client = tailrace.open(config())
    view = client.alloc("pressure", 0)
    client.close()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 2


def test_a_view_is_read_only_after_its_iteration_was_dropped(config):
    with tailrace.open(config(budget="1 MiB", when_full="drop")) as client:
        view = client.alloc("field", 0)
        other = client.alloc("other", 0)
        with pytest.raises(tailrace.Dropped):
            client.alloc("third", 0)
        for name in ("field", "other"):
            assert client.commit(name, 0) is False
        assert client.end_iteration(0) is False
        for array in (view, other):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 2


def test_a_second_alloc_is_the_same_array(config):
    with tailrace.open(config()) as client:
        view = client.alloc("pressure", 0)
        assert client.alloc("pressure", 0) is view
        client.commit("pressure", 0)
        client.end_iteration(0)


# Each keeps the memory: the array itself, and everything made of it before commit.
HOLDERS = {"array": lambda view: view, "slice": lambda view: view[100:200],
           "slice of a slice": lambda view: view[8:][:-8], "memoryview": memoryview,
           "dlpack": lambda view: np.from_dlpack(view), "other type": lambda view: view.view("int64")}


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_is_made_of_a_view_keeps_its_values(config, holder):
    # The budget has two blocks, so the memory would be reused at once.
    with tailrace.open(config(budget="1 MiB")) as client:
        view = client.alloc("field", 0)
        view[:] = np.arange(65536.0)
        held = HOLDERS[holder](view)
        before = np.array(held)
        del view
        client.commit("field", 0)
        client.end_iteration(0)
        for step in range(1, 6):
            client.write("field", step, np.full(65536, -float(step)))
            client.end_iteration(step)
            client.flush()
            assert (np.asarray(held) == before).all()
    assert (np.asarray(held) == before).all()  # after close, too


def test_a_stale_slice_reaches_no_other_block(config, out):
    import h5py
    with tailrace.open(config(budget="1 MiB")) as client:
        view = client.alloc("field", 0)
        view[:] = 1
        stale = view[10:20]
        client.commit("field", 0)
        client.end_iteration(0)
        client.flush()
        for step in range(1, 4):
            client.write("field", step, np.full(65536, float(step)))
            stale[:] = -1  # a mistake of the program
            client.end_iteration(step)
            client.flush()
            stale[:] = -1
    for step in range(4):
        with h5py.File(out / f"sim_c0_{step:06}.h5") as file:
            assert (file[f"/data/{step}/meshes/field"][...] == max(step, 1)).all()


def test_arrays_that_are_kept_hold_the_budget(config):
    with tailrace.open(config(budget="1 MiB")) as client:
        kept = []
        for step in range(2):
            kept.append(client.alloc("field", step))
            client.commit("field", step)
            client.end_iteration(step)
        with pytest.raises(tailrace.Error, match="arrays from alloc that are alive") as caught:
            client.alloc("field", 2)
        assert caught.value.code == Status.BUDGET_HELD
        del kept[0]
        client.alloc("field", 2)[:] = 1
        client.commit("field", 2)
        client.end_iteration(2)


def test_a_loop_that_binds_its_array_again_needs_two_blocks(config):
    with tailrace.open(config(budget="1 MiB")) as client:
        for step in range(10):
            view = client.alloc("field", step)
            view[:] = step
            client.commit("field", step)
            client.end_iteration(step)
    assert (view == 9).all()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_view_keeps_its_client_alive(config):
    client = tailrace.open(config())
    alive = weakref.ref(client)
    view = client.alloc("pressure", 0)
    part = view[1:3]
    del client, view
    gc.collect()
    part[:] = 7
    assert alive() is not None
    alive().commit("pressure", 0)
    alive().end_iteration(0)
    del part
    gc.collect()
    assert alive() is None


def test_a_borrowed_array_lives_until_it_is_written(config, out):
    with tailrace.open(config()) as client:
        array = np.ones((4, 6))
        alive = weakref.ref(array)
        ticket = client.borrow("density", 0, array)
        del array
        gc.collect()
        assert alive() is not None
        assert ticket.wait(60.0) is True
        del ticket
        client.flush()
        gc.collect()
        assert alive() is None
        client.end_iteration(0)


def test_arrays_whose_tickets_are_forgotten_are_let_go(config):
    with tailrace.open(config()) as client:
        alive = []
        for step in range(50):
            array = np.full((4, 6), float(step))
            alive.append(weakref.ref(array))
            client.borrow("density", step, array)
            client.end_iteration(step)
        del array
        client.flush()
        gc.collect()
        assert [one() for one in alive] == [None] * 50
        for step in range(50):
            assert (client.read("density", step) == step).all()


def test_wait_refuses_nan(config):
    with tailrace.open(config()) as client:
        ticket = client.borrow("density", 0, ARRAY)
        with pytest.raises(ValueError, match="nan"):
            ticket.wait(float("nan"))
        client.end_iteration(0)
        assert ticket.wait(timeout=None)


def test_two_threads_in_one_client_are_told(config):
    with tailrace.open(config()) as client:
        counts = [0, 0]
        wrong = []

        def work(which):
            for step in range(300):
                try:
                    client.write("temperature" if which else "pressure", 0, ARRAY)
                    counts[which] += 1
                except tailrace.Error as error:
                    if error.code != Status.BUSY:
                        wrong.append(error)

        threads = [threading.Thread(target=work, args=(which,)) for which in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert client.stats()["blocks_accepted"] == sum(counts)
        client.write("temperature", 0, ARRAY)
        client.end_iteration(0)


def test_threads_with_clients_of_their_own(config, out):
    file = config()

    def work(number):
        with tailrace.open(file, client=number) as client:
            for step in range(20):
                client.write("temperature", step, np.full((4, 6), 100.0 * number + step))
                client.end_iteration(step)
            for step in range(20):
                assert (client.read("temperature", step) == 100.0 * number + step).all()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(out.glob("*.h5"))) == 80
