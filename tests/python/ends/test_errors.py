"""Each possible fault ends in a tailrace.Error that names it."""

import errno
import os
import pickle

import numpy as np
import pytest
import tailrace
from tailrace import Status

ARRAY = np.arange(24.0).reshape(4, 6)


def raises(code):
    return pytest.raises(tailrace.Error, check=lambda error: error.code == code)


def test_no_configuration_file(tmp_path):
    with raises(Status.IO_ERROR) as caught:
        tailrace.open(tmp_path / "missing.yaml")
    assert caught.value.errno == errno.ENOENT and "missing.yaml" in str(caught.value)


def test_wrong_configuration(tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text("tailrace: 1\nname: sim\nmemroy: {budget: 1 MiB}\n")
    for function in (tailrace.open, tailrace.check):
        with raises(Status.INVALID_CONFIG) as caught:
            function(file)
        assert "wrong.yaml:3" in str(caught.value) and "memory" in str(caught.value)


def test_check_of_a_right_configuration(config):
    assert tailrace.check(config()) is None


def test_directory_that_cannot_be_written_to(config):
    # /proc refuses new files from root, too.
    with raises(Status.IO_ERROR) as caught:
        tailrace.open(config(path="/proc/tailrace"))
    assert caught.value.errno and "/proc/tailrace" in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_directory(config, out):
    out.chmod(0o500)
    with raises(Status.IO_ERROR) as caught:
        tailrace.open(config())
    assert caught.value.errno == errno.EACCES


def test_output_path_that_is_a_file(config, tmp_path):
    (tmp_path / "file").write_text("")
    with raises(Status.IO_ERROR) as caught:
        tailrace.open(config(path=tmp_path / "file"))
    assert str(tmp_path / "file") in str(caught.value)


def test_budget_too_small_for_a_block(tmp_path):
    text = (f"tailrace: 1\nname: sim\nmemory: {{budget: 1 MiB}}\nstorage: {{path: {tmp_path}}}\n"
            "layouts: {l: {type: float64, shape: [1000000]}}\nvariables: {v: {layout: l}}\n")
    with pytest.raises(tailrace.Error, match="budget") as caught:
        with tailrace.open("big.yaml", text=text) as client:
            client.write("v", 0, np.zeros(1000000))
    assert caught.value.code in (Status.INVALID_CONFIG, Status.TOO_LARGE)


def test_second_open_of_the_same_client(config, python):
    file = config(existing="continue")
    with tailrace.open(file, client=3) as client:
        with raises(Status.CLIENT_IN_USE):
            tailrace.open(file, client=3)
        other = python("import sys, tailrace\n"
                       "try: tailrace.open(sys.argv[1], 3)\n"
                       "except tailrace.Error as error: print(error.status, int(error.code))", file)
        assert other.stdout.split()[-1] == str(int(Status.CLIENT_IN_USE)), other
        client.write("temperature", 0, ARRAY)
        client.end_iteration(0)
    tailrace.open(file, client=3).close()  # … and it can be opened afterwards


@pytest.fixture
def client(config):
    opened = tailrace.open(config())
    yield opened
    if not opened.closed:
        opened.close()


def test_undeclared_variable(client):
    for verb in (lambda: client.write("temprature", 0, ARRAY), lambda: client.borrow("temprature", 0, ARRAY),
                 lambda: client.alloc("temprature", 0), lambda: client.commit("temprature", 0),
                 lambda: client.read("temprature", 0), lambda: client.variable("temprature")):
        with raises(Status.UNKNOWN_VARIABLE) as caught:
            verb()
        assert caught.value.variable == "temprature" and "temprature" in str(caught.value)


@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "complex128", ">f8", "bool"])
def test_wrong_type(client, dtype):
    for verb in (client.write, client.borrow):
        with raises(Status.WRONG_TYPE) as caught:
            verb("temperature", 0, np.zeros((4, 6), dtype))
        assert caught.value.status == "wrong type" and caught.value.variable == "temperature"
        assert "float64" in str(caught.value)
    with raises(Status.WRONG_TYPE):
        client.read("temperature", 0, np.zeros((4, 6), dtype))


@pytest.mark.parametrize("shape", [(6, 4), (4, 7), (24,), (1, 4, 6), (4, 0), (), (1, 1, 1, 4, 6)])
def test_wrong_shape(client, shape):
    for verb in (client.write, client.borrow):
        with raises(Status.WRONG_SHAPE) as caught:
            verb("temperature", 0, np.zeros(shape))
        assert caught.value.variable == "temperature" and "temperature" in str(caught.value)


@pytest.mark.parametrize("array", [np.zeros((6, 4)).T, np.zeros((4, 12))[:, ::2], np.zeros((8, 6))[::-2]],
                         ids=["transposed", "strided", "reversed"])
def test_not_contiguous(client, array):
    for verb in (client.write, client.borrow):
        with raises(Status.INVALID_ARGUMENT) as caught:
            verb("temperature", 0, array)
        assert "contiguous" in str(caught.value) and caught.value.variable == "temperature"
    assert client.stats()["blocks_accepted"] == 0


@pytest.mark.parametrize("value", [[1.0, 2.0], 3.0, np.float64(3), None, "text", np.array([None]),
                                   np.zeros(2, "datetime64[s]")])
def test_not_an_array(client, value):
    for verb in (client.write, client.borrow):
        with pytest.raises((TypeError, tailrace.Error), match="expected"):
            verb("temperature", 0, value)


def test_lists_and_numpy_scalars_are_type_errors(client):
    for value in ([1.0], np.float64(3)):
        with pytest.raises(TypeError, match="expected a NumPy array"):
            client.write("temperature", 0, value)


def test_names_with_a_null_character(client):
    with pytest.raises(ValueError, match="null character"):
        client.write("temperature\0", 0, ARRAY)


def test_iteration_below_zero(client):
    with raises(Status.INVALID_ARGUMENT):
        client.write("temperature", -1, ARRAY)


# Each call that takes an iteration, and its own name for it.
WITH_ITERATION = {"write": lambda of, number: of.write("temperature", number, ARRAY),
                  "alloc": lambda of, number: of.alloc("temperature", number),
                  "commit": lambda of, number: of.commit("temperature", number),
                  "borrow": lambda of, number: of.borrow("density", number, ARRAY),
                  "read": lambda of, number: of.read("temperature", number),
                  "signal": lambda of, number: of.signal("storm", number),
                  "end_iteration": lambda of, number: of.end_iteration(number)}


@pytest.mark.parametrize("verb", WITH_ITERATION)
def test_iteration_that_is_no_integer(client, verb):
    for wrong, shown in ((1.5, "1.5 (float)"), ("3", "'3' (str)"),
                         (np.float64(2), "(float64)")):
        with pytest.raises(TypeError) as caught:
            WITH_ITERATION[verb](client, wrong)
        assert str(caught.value).startswith(f"{verb}: iteration: expected an integer, found "), caught.value
        assert str(caught.value).endswith(shown), caught.value
    assert client.stats()["blocks_accepted"] == 0


@pytest.mark.parametrize("verb", WITH_ITERATION)
def test_iteration_beyond_64_bits(client, verb):
    for wrong in (2**63, -2**63 - 1, 10**5000):
        with raises(Status.INVALID_ARGUMENT) as caught:
            WITH_ITERATION[verb](client, wrong)
        assert str(caught.value).startswith(f"{verb}: iteration: expected an integer from -9223372036854775808 to "
                                            "9223372036854775807, found "), caught.value
        assert len(str(caught.value)) < 200


def test_iterations_of_numpy_are_integers(client):
    client.write("temperature", np.int32(3), ARRAY)
    client.end_iteration(np.uint64(3))


def test_offset_that_is_no_integer(client):
    with client.open_file("raw") as file:
        with pytest.raises(TypeError, match=r"write: offset: expected an integer, found 0\.5 \(float\)"):
            file.write(b"bytes", 0.5)
        with raises(Status.INVALID_ARGUMENT):
            file.write(b"bytes", 2**64)


def test_parameters_that_are_no_numbers(config, client):
    for call in ("open", "check"):
        with pytest.raises(TypeError, match=rf"{call}: nx: expected a number, found 'b' \(str\)"):
            getattr(tailrace, call)(config(), 1, parameters={"nx": "b"})
    with pytest.raises(TypeError, match=r"set_parameters: nx: expected a number, found 'a' \(str\)"):
        client.set_parameters(nx="a")
    with raises(Status.INVALID_ARGUMENT) as caught:
        client.set_parameters(nx=2**70)
    assert "set_parameters: nx: " in str(caught.value)
    with pytest.raises(TypeError, match=r"open: client: expected an integer, found 1\.0 \(float\)"):
        tailrace.open(config(), 1.0)
    with raises(Status.INVALID_ARGUMENT) as caught:
        tailrace.open(config(), 2**31)
    assert "open: client: expected an integer from 0 to 2147483647, found 2147483648" in str(caught.value)


def test_block_for_an_iteration_that_has_ended(client):
    client.write("temperature", 0, ARRAY)
    client.end_iteration(0)
    for verb in (lambda: client.write("temperature", 0, ARRAY), lambda: client.alloc("temperature", 0),
                 lambda: client.borrow("temperature", 0, ARRAY)):
        with raises(Status.WRONG_ORDER) as caught:
            verb()
        assert caught.value.iteration == 0


def test_commit_without_alloc(client):
    with raises(Status.WRONG_ORDER) as caught:
        client.commit("temperature", 4)
    assert (caught.value.variable, caught.value.iteration) == ("temperature", 4)


def test_read_of_what_was_never_written(client):
    with raises(Status.NOT_FOUND) as caught:
        client.read("temperature", 9)
    assert (caught.value.variable, caught.value.iteration) == ("temperature", 9)


def test_use_after_close(client):
    ticket = client.borrow("density", 0, ARRAY)
    client.end_iteration(0)
    client.close()
    assert client.closed
    for verb in (lambda: client.write("temperature", 0, ARRAY), lambda: client.alloc("temperature", 0),
                 lambda: client.commit("temperature", 0), lambda: client.borrow("temperature", 0, ARRAY),
                 lambda: client.end_iteration(0), lambda: client.signal("storm", 0), lambda: client.flush(),
                 lambda: client.read("temperature", 0), lambda: client.variable("temperature"),
                 lambda: client.stats(), lambda: client.describe(), lambda: client.close(), lambda: ticket.wait(),
                 lambda: ticket.test()):
        with raises(Status.CLOSED) as caught:
            verb()
        assert "closed" in str(caught.value)


def test_budget_held_by_blocks_not_committed(config):
    with tailrace.open(config(budget="1 MiB")) as client:
        client.alloc("field", 0)
        with raises(Status.BUDGET_HELD):
            client.alloc("other", 0)
            client.alloc("third", 0)
        for name in ("field", "other"):
            try:
                client.commit(name, 0)
            except tailrace.Error as error:
                assert error.code == Status.WRONG_ORDER  # alloc has not returned this one
        client.end_iteration(0)


def test_full_disk(config, small_disk):
    block = np.random.default_rng(1).standard_normal(65536)
    errors = []

    def note(call):
        try:
            call()
        except tailrace.Error as error:
            errors.append(error)

    client = tailrace.open(config(path=small_disk))
    for step in range(6):  # 512 KiB each, on 1 MiB
        note(lambda: client.write("field", step, block))
        note(lambda: client.end_iteration(step))
    note(client.flush)
    note(client.close)
    full = [error for error in errors if error.errno == errno.ENOSPC]
    assert full, [str(error) for error in errors]
    for error in full:
        # A call reports the block; the next one its iteration, if that ended in between.
        assert error.code in (Status.IO_ERROR, Status.NOT_PUBLISHED) and error.earlier
        assert str(small_disk) in error.file and error.iteration is not None
        assert "No space left" in str(error)
    # Published files are complete.
    import h5py
    for path in small_disk.glob("*.h5"):
        with h5py.File(path) as file:
            (iteration,) = file["/data"]
            np.testing.assert_array_equal(file[f"/data/{iteration}/meshes/field"][...], block)


def test_file_deleted_underneath(config, out):
    client = tailrace.open(config())
    client.write("temperature", 0, ARRAY)
    client.flush()
    for part in out.glob("*.h5.part"):
        part.unlink()
    with pytest.raises(tailrace.Error) as caught:
        client.end_iteration(0)
        client.flush()
        client.close()
    assert caught.value.earlier and "sim_c0_000000.h5" in caught.value.file
    assert not list(out.glob("*.h5"))
    if not client.closed:
        client.close()


def test_iteration_not_ended_is_reported_at_close(config, out):
    client = tailrace.open(config())
    client.write("temperature", 0, ARRAY)
    with pytest.raises(tailrace.Error) as caught:
        client.close()
    assert client.closed and caught.value.iteration == 0
    assert not list(out.glob("*.h5"))


def test_all_failures_of_a_close_can_be_read(config):
    client = tailrace.open(config())
    for step in range(4):
        client.write("temperature", step, ARRAY)
    with pytest.raises(tailrace.Error) as caught:
        client.close()
    error = caught.value
    assert error.more == 3 and [other.iteration for other in (error, *error.others)] == [0, 1, 2, 3]
    for other in error.others:
        assert type(other) is tailrace.Error and other.earlier and other.code == Status.NOT_PUBLISHED
        told = f"1 block was not published: end_iteration({other.iteration}) was not called"
        assert told in str(other) and other.others == ()


def test_errors_travel_by_pickle():
    other = tailrace.Error("other", iteration=4)
    error = tailrace.Error("no", status="wrong type", code=Status.WRONG_TYPE, variable="v", iteration=3, errno=5,
                           others=(other,))
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is tailrace.Error and str(copy) == "no"
    assert vars(copy) | {"others": ()} == vars(error) | {"others": ()}
    assert [vars(one) for one in copy.others] == [vars(other)]
    assert isinstance(pickle.loads(pickle.dumps(tailrace.Dropped("x"))), tailrace.Dropped)


def test_recover_of_no_directory(tmp_path):
    with pytest.raises(tailrace.Error, match="missing") as caught:
        tailrace.recover(tmp_path / "missing")
    assert caught.value.code in (Status.NOT_FOUND, Status.IO_ERROR)
