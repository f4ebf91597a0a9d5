"""Data that are handed over read back equal, byte for byte: by tailrace, by h5py and by h5dump."""

import math
import shutil
import subprocess

import h5py
import numpy as np
import pytest
import tailrace

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "longdouble"]
SHAPES = [(7,), (3, 5), (2, 3, 4), (2, 1, 3, 5)]


def declare(path, dtype, shape):
    kind = "long_double" if dtype == "longdouble" else dtype
    return (f"tailrace: 1\nname: all\nmemory: {{budget: 4 MiB}}\nstorage: {{path: {path}}}\n"
            f"layouts: {{l: {{type: {kind}, shape: {list(shape)}}}}}\n"
            "variables: {copied: {layout: l}, built: {layout: l}, lent: {layout: l}}\n")


def random_array(dtype, shape, seed):
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return (generator.standard_normal(shape) * 1e3).astype(dtype) / np.dtype(dtype).type(3)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{len(shape)}d")
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_and_rank(out, dtype, shape):
    seed = 20100227
    arrays = {name: random_array(dtype, shape, seed + i) for i, name in enumerate(("copied", "built", "lent"))}
    with tailrace.open("all.yaml", text=declare(out, dtype, shape)) as client:
        assert client.variable("copied") == (dtype, shape, math.prod(shape) * np.dtype(dtype).itemsize)
        assert client.write("copied", 5, arrays["copied"]) is True
        built = client.alloc("built", 5)
        assert built.dtype == np.dtype(dtype) and built.shape == shape
        built[...] = arrays["built"]
        assert client.commit("built", 5) is True
        ticket = client.borrow("lent", 5, arrays["lent"])
        for name, array in arrays.items():
            np.testing.assert_array_equal(client.read(name, 5), array)
        assert client.end_iteration(5) is True
        assert ticket.wait() is True and ticket.test() is True
        client.flush()
        for name, array in arrays.items():
            np.testing.assert_array_equal(client.read(name, 5), array)  # of the published file
    assert [file.name for file in out.iterdir()] == ["all_c0_000005.h5"]
    with h5py.File(out / "all_c0_000005.h5") as file:
        for name, array in arrays.items():
            dataset = file[f"/data/5/meshes/{name}"]
            assert dataset.dtype == array.dtype and dataset.shape == shape
            np.testing.assert_array_equal(dataset[...], array)


def test_h5py_reads_each_of_many_iterations(out):
    """Most files are made from their predecessors; with more variables than metadata fit before the raw data."""
    names = [f"v{number}" for number in range(90)]

    def value(iteration, name):
        return 100 * iteration + int(name[1:])

    text = (f"tailrace: 1\nname: all\nmemory: {{budget: 4 MiB}}\nstorage: {{path: {out}}}\ntime: {{dt: 0.5}}\n"
            f"layouts: {{l: {{type: float32, shape: [5, 3]}}}}\nvariables:\n"
            + "".join(f"  {name}: {{layout: l, unit: m, description: of {name}}}\n" for name in names))
    with tailrace.open("all.yaml", text=text) as client:
        for iteration in range(8, 23):
            for name in names if iteration % 4 else reversed(names):
                client.write(name, iteration, np.full((5, 3), value(iteration, name), "float32"))
            client.end_iteration(iteration)
    for iteration in range(8, 23):
        with h5py.File(out / f"all_c0_{iteration:06}.h5") as file:
            assert list(file["/data"]) == [str(iteration)]
            group = file[f"/data/{iteration}"]
            assert group.attrs["time"] == 0.5 * iteration
            assert sorted(group["meshes"]) == sorted(names)
            for name in names:
                dataset = group["meshes"][name]
                assert dataset.attrs["description"] == f"of {name}".encode()
                assert (dataset[...] == value(iteration, name)).all()


@pytest.mark.skipif(not shutil.which("h5dump"), reason="no h5dump here")
@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
def test_h5dump_reads_the_same_bytes(out, tmp_path, dtype):
    array = random_array(dtype, (3, 5), 1)
    with tailrace.open("all.yaml", text=declare(out, dtype, (3, 5))) as client:
        client.write("copied", 0, array)
        client.end_iteration(0)
    subprocess.run(["h5dump", "-d", "/data/0/meshes/copied", "-b", "NATIVE", "-o", tmp_path / "raw",
                    out / "all_c0_000000.h5"], check=True, capture_output=True)
    assert (tmp_path / "raw").read_bytes() == array.tobytes()


def test_the_last_write_of_a_block_is_the_one_that_stands(config, out):
    arrays = [np.full((4, 6), float(value)) for value in range(20)]
    with tailrace.open(config()) as client:
        for array in arrays:
            client.write("temperature", 0, array)
        np.testing.assert_array_equal(client.read("temperature", 0), arrays[-1])
        client.end_iteration(0)
    with h5py.File(out / "sim_c0_000000.h5") as file:
        np.testing.assert_array_equal(file["/data/0/meshes/temperature"][...], arrays[-1])


def test_write_takes_a_copy(config):
    array = np.ones((4, 6))
    with tailrace.open(config()) as client:
        client.write("temperature", 0, array)
        array[:] = 2
        assert (client.read("temperature", 0) == 1).all()
        client.end_iteration(0)


def test_read_into_an_array_of_the_caller(config):
    target = np.zeros((4, 6))
    with tailrace.open(config()) as client:
        client.write("temperature", 0, np.ones((4, 6)))
        assert client.read("temperature", 0, target) is target
        assert (target == 1).all()
        target.flags.writeable = False
        with pytest.raises(TypeError, match="read-only"):
            client.read("temperature", 0, out=target)
        client.end_iteration(0)


def test_other_buffers_than_numpy_arrays(config):
    text = memoryview(np.arange(24.0).tobytes()).cast("d", (4, 6))
    with tailrace.open(config()) as client:
        client.write("temperature", 0, text)
        np.testing.assert_array_equal(client.read("temperature", 0), np.arange(24.0).reshape(4, 6))
        client.end_iteration(0)


def test_a_read_only_array_can_be_written_out(config):
    array = np.ones((4, 6))
    array.flags.writeable = False
    with tailrace.open(config()) as client:
        assert client.write("temperature", 0, array)
        client.borrow("density", 0, array).wait()
        client.end_iteration(0)


def test_clients_have_files_of_their_own(config, out):
    with tailrace.open(config(), client=0) as zero, tailrace.open(config(), client=np.int64(7)) as seven:
        assert (zero.client, seven.client) == (0, 7)
        for client in (zero, seven):
            client.write("temperature", 1, np.full((4, 6), float(client.client)))
            client.end_iteration(1)
    assert sorted(file.name for file in out.iterdir()) == ["sim_c0_000001.h5", "sim_c7_000001.h5"]


def test_parameters_and_path_from_the_program(tmp_path):
    text = ("tailrace: 1\nname: p\nmemory: {budget: 1 MiB}\nstorage: {path: /nowhere}\nparameters: {nx: 2}\n"
            "layouts: {l: {type: int8, shape: [nx, ny]}}\nvariables: {v: {layout: l}}\n")
    directory = tmp_path / "elsewhere"
    directory.mkdir()
    with tailrace.open("p.yaml", text=text, path=directory, parameters={"nx": 3, "ny": np.int32(4)}) as client:
        assert client.variable("v") == ("int8", (3, 4), 12)
        client.write("v", 0, np.zeros((3, 4), np.int8))
        client.end_iteration(0)
    assert [file.name for file in directory.iterdir()] == ["p_c0_000000.h5"]


def test_signals_are_recorded(config, out):
    with tailrace.open(config()) as client:
        client.write("temperature", 0, np.ones((4, 6)))
        client.signal("storm", 0)
        client.signal("calm", 0)
        client.end_iteration(0)
        assert client.stats()["signals"] == 2
    with h5py.File(out / "sim_c0_000000.h5") as file:
        assert [event.decode() for event in file["/data/0"].attrs["tailraceSignals"]] == ["storm", "calm"]


def test_statistics_and_description(config):
    with tailrace.open(config()) as client:
        client.write("temperature", 0, np.ones((4, 6)))
        client.end_iteration(0)
        client.flush()
        stats = client.stats()
        assert stats["blocks_accepted"] == stats["blocks_written"] == 1
        assert stats["bytes_accepted"] == stats["bytes_written"] == 4 * 6 * 8
        assert stats["iterations_ended"] == stats["iterations_published"] == 1
        assert stats["failures"] == stats["failures_unseen"] == 0
        assert 0 < stats["memory_peak"] <= stats["memory_budget"] == 4 << 20
        assert stats["transfers"] >= stats["transfers_direct"] >= 0 and stats["transfers"] > 0
        assert stats["requests_peak"] > 0 and stats["requests_merged"] >= 0
        assert stats["transfers_again"] >= 0 and stats["transfer_fallbacks"] >= 0
        assert "thread" in client.describe()
