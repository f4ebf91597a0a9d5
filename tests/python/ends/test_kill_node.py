"""kill -9 of clients that share compressed files of a node: the files of the others are whole, and nothing is left.

TAILRACE_TEST_SEED=… repeats a run, TAILRACE_TEST_RUNS sets the number of runs.
"""

import os
import random
import signal

import h5py
import numpy as np
import pytest

import tailrace
from conftest import own_node

CLIENTS = 8
CONFIG = """\
tailrace: 1
name: sim
place: {{kind: core, clients: {clients}, cpus: none, patience: 60, filter_threads: {threads}}}
memory: {{budget: {budget}}}
storage: {{path: {path}, file_per: node}}
log: {{level: "off"}}
layouts:
  slab: {{type: float64, shape: [64, 128], global: [{rows}, 128], offset: [first, 0]}}
variables:
  a: {{layout: slab, compress: {{filter: zstd, level: 1, chunk: 16 KiB}}}}
  b: {{layout: slab, compress: {{filter: zstd, level: 1, chunk: 16 KiB}}}}
"""


def values(seed: int, client: int, step: int) -> np.ndarray:
    return np.random.default_rng([seed, client, step]).integers(0, 9, (64, 128)).astype("f8")


def work(file, seed, client, steps, opened):
    """The life of a client; those that stay are told that others have gone."""
    verbs = random.Random(seed * CLIENTS + client)
    out = tailrace.open(file, client, parameters={"first": 64 * client})
    os.write(opened, b"o")

    def carried_out(call, *arguments):
        try:
            call(*arguments)
        except tailrace.Error as error:
            if error.code != tailrace.Status.CLIENTS_MISSING:
                raise

    for step in range(steps):
        for name in "ab":
            carried_out(out.write, name, step, values(seed, client, step))
        carried_out(out.end_iteration, step)
        if verbs.randrange(4) == 0:
            carried_out(out.flush)
    carried_out(out.close)


def begin(*arguments) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(*arguments)
            code = 0
        finally:
            os._exit(code)
    return child


def check(path, seed):
    """Every client that the file does not call missing has its blocks in it, whole."""
    with h5py.File(path) as file:
        step = int(next(iter(file["data"])))
        iteration = file[f"data/{step}"]
        missing = set(iteration.attrs.get("tailraceMissingClients", np.array([], "i8")).tolist())
        for client in set(range(CLIENTS)) - missing:
            for name in "ab":
                np.testing.assert_array_equal(iteration[f"meshes/{name}_c{client}"], values(seed, client, step))


@pytest.mark.parametrize("run", range(int(os.environ.get("TAILRACE_TEST_RUNS", 6))))
def test_killed_clients_of_a_node_leave_whole_files_and_nothing_else(tmp_path, run):
    pytest.importorskip("hdf5plugin")
    seed = int(os.environ.get("TAILRACE_TEST_SEED", random.SystemRandom().randrange(2**31)))
    print(f"TAILRACE_TEST_SEED={seed}")
    chance = random.Random(seed)
    steps = chance.choice([1, 5, 20])
    file = tmp_path / "sim.yaml"
    file.write_text(CONFIG.format(path=tmp_path / "out", clients=CLIENTS, rows=64 * CLIENTS,
                                  threads=chance.choice([1, 2, 4]), budget=chance.choice(["1 MiB", "4 MiB"])))
    with own_node() as runtime:
        opened, opens = os.pipe()
        children = [begin(file, seed, client, steps, opens) for client in range(CLIENTS)]
        os.close(opens)  # so that the read ends if all children do
        for _ in children:  # one that dies before counts as never having come
            assert os.read(opened, 1) == b"o"
        victims = chance.sample(range(CLIENTS), chance.randrange(1, CLIENTS))
        for victim in victims:
            for _ in range(int(10 ** chance.uniform(0, 5.5))):
                pass
            os.kill(children[victim], signal.SIGKILL)
        ends = [os.waitpid(child, 0)[1] for child in children]
        os.close(opened)
    for client, end in enumerate(ends):
        assert end == 0 or (client in victims and end == signal.SIGKILL), (client, end)
    assert not runtime.exists() or not list(runtime.iterdir())
    left = sorted(path.name for path in (tmp_path / "out").iterdir())
    published = [name for name in left if name.endswith(".h5")]
    assert [name for name in left if name not in published and not name.endswith(".log")] == []
    if len(victims) < CLIENTS:
        assert len(published) == steps
    for name in published:
        check(tmp_path / "out" / name, seed)
