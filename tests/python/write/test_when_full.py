"""`memory.when_full`: what the caller sees when the budget is full."""

import h5py
import numpy as np
import pytest
import tailrace

BLOCK = np.arange(65536.0)  # 512 KiB


def fill(client):
    """Allocates blocks of iteration 0 until there is no room; returns their names."""
    held = []
    for name in ("field", "other"):
        client.alloc(name, 0)[:] = BLOCK
        held.append(name)
    assert client.stats()["memory_held"] <= client.stats()["memory_budget"] == 1 << 20
    return held


def test_drop_gives_up_the_whole_iteration_and_says_so(config, out):
    with tailrace.open(config(budget="1 MiB", when_full="drop")) as client:
        assert client.write("temperature", 1, np.ones((4, 6))) is True
        client.flush()  # it is written, and frees its memory
        held = fill(client)
        assert client.write("third", 1, BLOCK) is False
        assert client.write("temperature", 1, np.ones((4, 6))) is False
        for verb in (lambda: client.alloc("pressure", 1), lambda: client.borrow("density", 1, np.ones((4, 6)))):
            with pytest.raises(tailrace.Dropped) as caught:
                verb()
            assert caught.value.code == tailrace.Status.DROPPED and caught.value.iteration == 1
            assert not caught.value.earlier
        assert client.signal("storm", 1) is False
        assert client.end_iteration(1) is False
        for name in held:
            assert client.commit(name, 0) is True
        assert client.end_iteration(0) is True
        client.flush()
        assert client.write("third", 2, BLOCK) is True  # there is room again
        assert client.end_iteration(2) is True
        stats = client.stats()
        assert stats["iterations_dropped"] == 1 and stats["failures"] == 0
    assert sorted(path.name for path in out.glob("*.h5*")) == ["sim_c0_000000.h5", "sim_c0_000002.h5"]
    assert "iteration 1: dropped" in (out / "sim_c0.dropped").read_text()


def test_commit_of_a_block_of_a_dropped_iteration(config, out):
    with tailrace.open(config(budget="1 MiB", when_full="drop")) as client:
        held = fill(client)
        assert client.write("third", 0, BLOCK) is False
        for name in held:
            assert client.commit(name, 0) is False
        assert client.end_iteration(0) is False
    assert list(out.glob("*.h5*")) == []
    assert "iteration 0: dropped" in (out / "sim_c0.dropped").read_text()


def test_sync_writes_through(config, out):
    with tailrace.open(config(budget="1 MiB", when_full="sync")) as client:
        held = fill(client)
        assert client.write("third", 1, 3 * BLOCK) is True
        assert client.stats()["blocks_written_through"] == 1
        for name in held:
            client.commit(name, 0)
        client.end_iteration(0)
        client.end_iteration(1)
    with h5py.File(out / "sim_c0_000001.h5") as file:
        np.testing.assert_array_equal(file["/data/1/meshes/third"][...], 3 * BLOCK)


@pytest.mark.parametrize("backend", ["auto", "uring", "posix", "memory"])
@pytest.mark.parametrize("durability", ["accepted", "written", "durable"])
def test_block_waits_for_room_and_loses_nothing(config, out, backend, durability):
    try:
        client = tailrace.open(config(budget="1 MiB", backend=backend, durability=durability))
    except tailrace.Error as error:
        if error.code == tailrace.Status.UNSUPPORTED:
            pytest.skip(str(error))
        raise
    with client:
        for step in range(20):
            assert client.write("field", step, BLOCK + step)
            assert client.end_iteration(step)
        for step in (0, 19):
            np.testing.assert_array_equal(client.read("field", step), BLOCK + step)
        assert client.stats()["memory_peak"] <= 1 << 20
    if backend != "memory":
        for step in range(20):
            with h5py.File(out / f"sim_c0_{step:06d}.h5") as file:
                np.testing.assert_array_equal(file[f"/data/{step}/meshes/field"][...], BLOCK + step)
