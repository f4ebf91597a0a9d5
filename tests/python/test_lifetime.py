"""Who keeps what alive: clients, views, borrowed arrays; and what happens at the end of each."""

import gc
import os
import threading
import weakref

import numpy as np
import pytest
import tailrace
from tailrace import Status

ARRAY = np.arange(24.0).reshape(4, 6)


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
            client.write("temperature", 0, ARRAY)  # not ended: close has something to say
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


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_fork_leaves_the_client_alone(config, out):
    with tailrace.open(config()) as client:
        child = os.fork()
        if child == 0:
            del client  # would wait for ever for a writer that is not in this process
            gc.collect()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        client.write("temperature", 0, ARRAY)
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
