"""kill -9 at 200 random moments: published files are complete, and recover leaves a clean directory.

A failing seed is a one-line command: TAILRACE_TEST_SEED=… pytest tests/python/ends/test_kill.py
"""

import os
import random

HARNESS = r'''
import os, pathlib, random, signal, sys
import h5py, numpy as np, tailrace

seed, kills, out, config = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
moments = random.Random(seed)

def work(pipe, base):
    """Writes iterations for ever, and a byte after each thing that it does."""
    verbs = random.Random(base)
    def did():
        os.write(pipe, b".")
    client = tailrace.open(config)
    did()
    for step in range(base, 10**9):
        for name, shape in (("temperature", (4, 6)), ("field", (65536,)), ("other", (65536,))):
            array = np.full(shape, float(step))
            verb = verbs.randrange(3)
            if verb == 0:
                client.write(name, step, array)
            elif verb == 1:
                client.alloc(name, step)[...] = array
                did()
                client.commit(name, step)
            else:
                client.borrow(name, step, array)
            did()
        client.end_iteration(step)
        did()
        if verbs.randrange(4) == 0:
            client.flush()
            did()

def check(path):
    with h5py.File(path) as file:
        (step,) = file["data"]
        meshes = file[f"data/{step}/meshes"]
        assert path.name == f"sim_c0_{int(step):06d}.h5", path
        assert set(meshes) == {"temperature", "field", "other"}, (path, list(meshes))
        for mesh in meshes.values():
            assert (mesh[...] == float(step)).all(), (path, mesh)

published = recovered = 0
for kill in range(kills):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(write_end, 1000 * kill)
        finally:
            os._exit(1)
    os.close(write_end)
    for _ in range(moments.randrange(60)):
        assert os.read(read_end, 1) == b".", f"kill {kill}: the child has ended by itself"
    for _ in range(moments.randrange(20000)):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read_end)
    for path in out.glob("*.h5"):
        check(path)
        published += 1
    for leftover in tailrace.recover(out):
        assert leftover.done and leftover.kind != "in use", leftover
        recovered += 1
    for path in out.iterdir():
        assert path.suffix == ".h5", f"kill {kill}: left {path}"
        check(path)
        path.unlink()
print(f"{published} published files whole, {recovered} leftovers recovered")
'''


def test_200_kills(config, out, python):
    seed = int(os.environ.get("TAILRACE_TEST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"TAILRACE_TEST_SEED={seed}")
    result = python(HARNESS, seed, 200, out, config(budget="2 MiB"))
    print(result.stdout)
    assert result.returncode == 0, result.stderr
