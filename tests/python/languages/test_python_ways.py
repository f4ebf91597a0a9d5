"""Ways of Python: variables, texts for people, exceptions, awaiting, lent arrays, arrays of other libraries."""

import asyncio
import errno
import gc
import inspect
import pickle
from concurrent import futures

import numpy as np
import pytest
import tailrace

ARRAY = np.arange(24.0).reshape(4, 6)


@pytest.fixture
def client(config):
    out = tailrace.open(config())
    yield out
    if not out.closed:
        for step in (0, 1):
            try_to_end(out, step)
        out.close()


def try_to_end(client, step):
    """Ends an iteration that a test may have left open."""
    try:
        client.end_iteration(step)
    except tailrace.Error as error:
        assert error.code == tailrace.Status.WRONG_ORDER, error


# ---- variables and texts


def test_the_variables_are_a_mapping(client):
    assert list(client.variables)[:2] == ["temperature", "pressure"] and len(client.variables) == 6
    one = client.variables["temperature"]
    assert (one.dtype, one.shape, one.nbytes, one.size, one.ndim) == (np.float64, (4, 6), 192, 24, 2)
    assert (one.unit, one.description) == ("K", "of the air")
    assert client.variables["field"].unit == "1" and client.variables["field"].empty().shape == (65536,)
    assert "temperature" in client.variables and "T" not in client.variables
    with pytest.raises(KeyError):
        client.variables["T"]


def test_the_variables_have_the_present_shape(tmp_path):
    declared = {"a": tailrace.Variable("f4", "n")}
    with tailrace.open(variables=declared, path=tmp_path / "out", parameters={"n": 3}, budget="4 MiB") as out:
        variables = out.variables
        assert variables["a"].shape == (3,)
        out.set_parameters(n=5)
        assert variables["a"].shape == (5,)


def test_texts_tell_what_it_is(client, tmp_path):
    assert "Client 0: place thread" in repr(client)
    ticket = client.borrow("temperature", 7, ARRAY.copy())
    assert repr(ticket) == "<tailrace.Ticket of 'temperature', iteration 7: lent>"
    ticket.wait()
    assert repr(ticket).endswith(": ended>")
    file = client.open_file("a.bin")
    assert repr(file) == "<tailrace.File 'a.bin': open>"
    client.end_iteration(7)
    client.close()
    assert repr(client) == "<tailrace.Client 0: closed>" and repr(file).endswith(": closed>")


# ---- exceptions


def test_errors_are_those_of_python_too(client, config, tmp_path):
    with pytest.raises(KeyError) as unknown:
        client.write("T", 0, ARRAY)
    assert isinstance(unknown.value, tailrace.Error) and not str(unknown.value).startswith(("'", '"'))
    with pytest.raises(TypeError):
        client.write("temperature", 0, ARRAY.astype("f4"))
    with pytest.raises(ValueError):
        client.write("temperature", 0, ARRAY[:2])
    with pytest.raises(ValueError):
        tailrace.open({"nme": "x"})
    with pytest.raises(FileNotFoundError):
        client.read("temperature", 99)
    with pytest.raises(OSError) as missing:
        tailrace.open(tmp_path / "missing.yaml")
    assert missing.value.errno == errno.ENOENT and missing.value.strerror and "missing.yaml" in str(missing.value)
    try_to_end(client, 0)
    client.close()
    with pytest.raises(ValueError):
        client.flush()


def test_the_loss_of_an_earlier_block_is_no_fault_of_the_call():
    parts = {"code": 103, "earlier": True}
    assert type(tailrace._errors.of("lost", **parts)) is tailrace.Error
    assert isinstance(tailrace._errors.of("lost", code=301, earlier=True, errno=errno.ENOSPC), OSError)


@pytest.mark.parametrize("code", sorted(tailrace._errors._CLASSES))
def test_every_class_travels(code):
    error = tailrace._errors.of("a message", code=code, earlier=False, errno=5, file="f", variable="v")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == "a message" and (copy.errno, copy.file) == (5, "f")


def test_signatures_can_be_inspected():
    assert "variables" in inspect.signature(tailrace.open).parameters
    for name in ("check", "recover", "Variable", "Error"):
        assert inspect.signature(getattr(tailrace, name)).parameters, name


# ---- awaiting


def test_a_ticket_can_be_awaited_while_others_go_on(client):
    async def program():
        tickets = [client.borrow("field", step, np.full(65536, float(step))) for step in range(4)]
        for step in range(4):
            client.end_iteration(step)
        return await asyncio.gather(*tickets)

    assert asyncio.run(program()) == [True] * 4


def test_awaiting_asks_again_while_it_has_not_ended_or_the_client_is_in_use():
    class Fake:
        answers = iter([False, tailrace.Error("busy", code=tailrace.Status.BUSY), False, True])

        def test(self):
            answer = next(self.answers)
            if isinstance(answer, Exception):
                raise answer
            return answer

    assert asyncio.run(tailrace._awaiting.until_ended(Fake())) is True


def test_awaiting_raises_the_failure():
    class Fake:
        def test(self):
            raise tailrace.IoError("lost", code=tailrace.Status.IO_ERROR)

    with pytest.raises(OSError, match="lost"):
        asyncio.run(tailrace._awaiting.until_ended(Fake()))


# ---- lent arrays


def test_a_lent_array_is_read_only_until_its_ticket_has_ended(client):
    array = ARRAY.copy()
    ticket = client.borrow("temperature", 0, array)
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1
    ticket.wait()
    array[0, 0] = 1


def test_an_array_lent_twice_waits_for_both(client):
    array = ARRAY.copy()
    first, second = client.borrow("temperature", 0, array), client.borrow("pressure", 0, array)
    first.wait()
    assert not array.flags.writeable
    second.wait()
    assert array.flags.writeable


def test_a_read_only_array_stays_so(client):
    array = ARRAY.copy()
    array.flags.writeable = False
    client.borrow("temperature", 0, array).wait()
    assert not array.flags.writeable


def test_a_view_is_given_back_after_its_base(client):
    base = np.zeros((8, 6))
    view = base[:4]
    large = client.borrow("temperature", 0, view)
    whole = base.reshape(2, 4, 6)[0]
    other = client.borrow("pressure", 0, whole)
    large.wait()
    other.wait()
    assert view.flags.writeable and whole.flags.writeable and base.flags.writeable


def test_views_of_arrays_that_are_lent_wait_for_them():
    base = np.zeros((4, 6))
    view = base[:]
    tailrace._lending.lock(view)
    tailrace._lending.lock(base)
    tailrace._lending.unlock(view)
    assert not view.flags.writeable, "its base is still lent"
    tailrace._lending.unlock(base)
    assert base.flags.writeable and view.flags.writeable
    assert not tailrace._lending._lent and not tailrace._lending._delayed


def test_a_refused_borrow_leaves_the_array_alone(client):
    array = np.zeros((3, 3))
    with pytest.raises(ValueError):
        client.borrow("temperature", 0, array)
    client.end_iteration(0)
    good = ARRAY.copy()
    with pytest.raises(tailrace.Error):
        client.borrow("temperature", 0, good)
    assert array.flags.writeable and good.flags.writeable


def test_without_a_ticket_close_gives_the_array_back(config):
    array = ARRAY.copy()
    with tailrace.open(config()) as out:
        out.borrow("temperature", 0, array)
        gc.collect()
        assert not array.flags.writeable
        out.end_iteration(0)
    assert array.flags.writeable and not tailrace._lending._lent


def test_threads_that_lend_the_same_array(config):
    array = ARRAY.copy()
    file = config(existing="continue")

    def lend(number):
        with tailrace.open(file, client=number) as out:
            for step in range(20):
                out.borrow("temperature", step, array).wait()
                out.end_iteration(step)
            return out.stats()["blocks_written"]

    with futures.ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lend, range(3))) == [20, 20, 20]
    assert array.flags.writeable and not tailrace._lending._lent


def test_memory_without_a_flag_can_be_lent(tmp_path):
    import array

    with tailrace.open(variables={"a": np.zeros(3)}, path=tmp_path / "out", budget="4 MiB") as out:
        out.borrow("a", 0, array.array("d", [1, 2, 3])).wait()
        np.testing.assert_array_equal(out.read("a", 0), [1, 2, 3])
        out.end_iteration(0)


# ---- other arrays


def test_masked_arrays_are_refused_or_filled(client):
    masked = np.ma.masked_greater(ARRAY, 20)
    for verb in (client.write, client.borrow):
        with pytest.raises(ValueError, match="3 of 24 elements are masked"):
            verb("temperature", 0, masked)
    client.write("temperature", 0, masked, fill_value=-1.0)
    ticket = client.borrow("pressure", 0, masked, fill_value=-2.0)
    ticket.wait()
    client.write("density", 0, np.ma.masked_array(ARRAY))
    np.testing.assert_array_equal(client.read("temperature", 0), np.where(ARRAY > 20, -1, ARRAY))
    np.testing.assert_array_equal(client.read("pressure", 0), np.where(ARRAY > 20, -2, ARRAY))
    np.testing.assert_array_equal(client.read("density", 0), ARRAY)
    with pytest.raises(TypeError, match="fill_value: expected a masked array"):
        client.write("temperature", 1, ARRAY, fill_value=0.0)


def test_raw_files_refuse_masked_arrays_too(client):
    with client.open_file("a.bin") as file:
        with pytest.raises(ValueError, match="3 of 24 elements are masked"):
            file.write(np.ma.masked_greater(ARRAY, 20), 0)
        file.write(np.ma.masked_array(ARRAY), 0)
        np.testing.assert_array_equal(file.read(np.empty((4, 6)), 0), ARRAY)


class OnDevice:
    """An array of a library for devices, which nobody but itself can read."""

    def __init__(self, values):
        self._values = values
        self.shape, self.dtype = values.shape, values.dtype
        self.__cuda_array_interface__ = {"shape": values.shape, "typestr": values.dtype.str, "data": (1, False),
                                         "version": 3}

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise AssertionError("only its own library can read it")


class LikeCupy(OnDevice):
    def get(self, out=None):
        if out is None:
            return self._values.copy()
        out[...] = self._values
        return out


class LikeNumba(OnDevice):
    def copy_to_host(self):
        return self._values.copy()


class LikeTorch(OnDevice):
    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self._values.copy()


class LikeJax(OnDevice):
    def __array__(self, dtype=None, copy=None):
        return self._values.copy()


@pytest.mark.parametrize("kind", [LikeCupy, LikeNumba, LikeTorch, LikeJax])
def test_arrays_of_devices_are_copied_by_their_library(client, kind):
    client.write("temperature", 0, kind(ARRAY))
    client.borrow("pressure", 0, kind(2 * ARRAY)).wait()
    np.testing.assert_array_equal(client.read("temperature", 0), ARRAY)
    np.testing.assert_array_equal(client.read("pressure", 0), 2 * ARRAY)


def test_pinned_memory_is_used_where_the_library_has_it(client, monkeypatch):
    class Cupyx:
        made = []

        @classmethod
        def empty_pinned(cls, shape, dtype):
            cls.made.append(np.empty(shape, dtype))
            return cls.made[-1]

    monkeypatch.setitem(__import__("sys").modules, "cupyx", Cupyx)
    client.write("temperature", 0, LikeCupy(ARRAY))
    np.testing.assert_array_equal(Cupyx.made[0], ARRAY)


def test_an_array_of_a_device_without_a_way_to_the_host_is_refused(client):
    with pytest.raises(TypeError, match="OnDevice in the memory of a device"):
        client.write("temperature", 0, OnDevice(ARRAY))


def test_arrays_with_dlpack_alone_are_not_copied():
    class Tensor:
        def __init__(self, values):
            self.values = values

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

        def __dlpack__(self, **arguments):
            return self.values.__dlpack__(**arguments)

    values = ARRAY.copy()
    assert np.shares_memory(tailrace._arrays.in_host_memory(Tensor(values), None), values)
