"""Changes while a program runs: parameters, and with them shapes; variables that are off. Independent readers read
the files."""

import os
import select
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from conftest import REPOSITORY
from tailrace.cli import core_server

hdf5plugin = pytest.importorskip("hdf5plugin", reason="h5py cannot read zstd here: no hdf5plugin")

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: {kind}}}
memory: {{budget: 4 MiB}}
storage: {{path: {path}}}
log: {{level: info}}
parameters: {{n: 10, m: 2, first: 0, total: 100000}}
layouts:
  line:
    type: float64
    shape: [n]
    global: [total]
    offset: [first]
    spacing: [0.5]
    origin: [3.0]
  plane: {{type: float32, shape: [m, n]}}
variables:
  plain: {{layout: line, unit: m}}
  packed: {{layout: line, compress: {{filter: zstd, chunk: 4 KiB, adaptive: false}}}}
  deflated: {{layout: plane, compress: {{filter: deflate, chunk: 4 KiB, adaptive: false}}}}
  half: {{layout: plane, precision: float16}}
  spare: {{layout: plane, enabled: false}}
{actions}
"""

FUNCTIONS = """
def shapes(event, iteration, blocks):
    found = {}
    for name, of in blocks.items():
        for block in of:
            key = f"{name}/{block.iteration}"
            found[key] = [*block.data.shape, *block.global_shape, *block.offset, float(block.data.sum())]
            assert block.data.dtype == {"line": float}.get(name, block.data.dtype)
    return found
"""


pytestmark = pytest.mark.usefixtures("runtime_directory")


def wait_for_no_server():
    """Waits until the servers of this test have ended: one with actions outlives its clients for a moment."""
    for job in core_server.jobs():
        for server in job["servers"]:
            try:
                process = os.pidfd_open(server["process"])
            except (KeyError, ProcessLookupError):
                continue
            select.select([process], [], [])
            os.close(process)


@pytest.fixture
def config(tmp_path):
    def write(kind, actions=""):
        file = tmp_path / "sim.yaml"
        file.write_text(CONFIG.format(path=tmp_path / "out", kind=kind, actions=actions))
        return file

    return write


def data(name, step, shape):
    """Returns multiples of a half, which float16 represents."""
    values = (np.arange(np.prod(shape)) % 512 / 2 + step).reshape(shape)
    return values.astype(np.float32 if name in ("deflated", "half") else np.float64)


@pytest.mark.parametrize("kind", ["thread", "core"])
def test_strangers_read_each_iteration_with_its_own_shape(kind, config, tmp_path):
    sizes = [10, 0, 3000, 1, 777, 0, 12]
    shapes = {}
    with tailrace.open(config(kind)) as out:
        for step, n in enumerate(sizes):
            m = step % 4
            out.set_parameters(n=n, m=m, first=5 * step)
            assert out.variable("plain") == ("float64", (n,), 8 * n)
            shapes[step] = {"plain": (n,), "packed": (n,), "deflated": (m, n), "half": (m, n)}
            for name, shape in shapes[step].items():
                out.write(name, step, data(name, step, shape))
            with pytest.raises(tailrace.Error, match=r"found shape \[.*\], expected") as refused:
                out.write("plain", step, np.zeros(n + 1))
            assert refused.value.status == "wrong shape"
            for name, shape in shapes[step].items():
                assert np.array_equal(out.read(name, step), data(name, step, shape)), (step, name)
            out.end_iteration(step)
    for step, n in enumerate(sizes):
        with h5py.File(tmp_path / f"out/sim_c0_{step:06d}.h5") as file:
            meshes = file[f"data/{step}/meshes"]
            assert sorted(meshes) == sorted(shapes[step])
            for name, shape in shapes[step].items():
                assert meshes[name].shape == shape
                assert np.array_equal(meshes[name][...], data(name, step, shape)), (step, name)
            plain = meshes["plain"].attrs
            assert plain["tailraceGlobalShape"] == 100000 and plain["tailraceOffset"] == 5 * step
            assert plain["gridGlobalOffset"] == 3.0 + 0.5 * 5 * step
            assert list(meshes["half"].attrs["tailraceGlobalShape"]) == list(shapes[step]["half"])


@pytest.mark.parametrize("kind", ["thread", "core"])
def test_refusals_and_switches(kind, config, tmp_path):
    with tailrace.open(config(kind)) as out:
        with pytest.raises(tailrace.Error, match="did you mean 'first'") as refused:
            out.set_parameters(fist=1)
        assert refused.value.status == "invalid argument" and not refused.value.earlier
        with pytest.raises(tailrace.Error, match="'line'"):
            out.set_parameters(n=-1)
        with pytest.raises(TypeError):
            out.set_parameters(1)
        built = out.alloc("half", 0)
        with pytest.raises(tailrace.Error, match="allocated and not committed") as refused:
            out.set_parameters(m=3)
        assert refused.value.status == "wrong order"
        built[...] = 1
        out.commit("half", 0)
        out.enable("half", False)
        out.enable("spare")
        for name in ("half", "spare"):
            view = out.alloc(name, 1)
            view[...] = 2
            out.commit(name, 1)
            assert not view.flags.writeable
        ticket = out.borrow("half", 1, np.zeros((2, 10), np.float32))
        assert ticket.wait() and ticket.test()
        for step in range(2):
            out.end_iteration(step)
    for step, name in enumerate(("half", "spare")):
        with h5py.File(tmp_path / f"out/sim_c0_{step:06d}.h5") as file:
            assert list(file[f"data/{step}/meshes"]) == [name]


def test_actions_see_the_shapes_of_their_blocks(config, tmp_path, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)  # whose NumPy the function gets
    (tmp_path / "shapes.py").write_text(FUNCTIONS)
    actions = ("actions:\n  - {on: end_iteration, run: \"python:shapes.py:shapes\"}\n"
               "  - {on: end_iteration, run: statistics, variables: [plain]}\n")
    file = config("core", actions)
    file.write_text(file.read_text().replace("{layout: line, unit: m}", "{layout: line, unit: m, keep: 1}"))
    sizes = [10, 0, 300]
    with tailrace.open(file) as out:
        for step, n in enumerate(sizes):
            out.set_parameters(n=n, first=step)
            out.write("plain", step, data("plain", step, (n,)))
            out.write("deflated", step, data("deflated", step, (2, n)))
            out.end_iteration(step)
    for step, n in enumerate(sizes):
        with h5py.File(tmp_path / f"out/sim_c0_{step:06d}.h5") as stored:
            found = stored[f"data/{step}"].attrs
            for before in range(max(0, step - 1), step + 1):
                expected = [sizes[before], 100000, before, data("plain", before, (sizes[before],)).sum()]
                assert list(found[f"tailraceAction_shapes_plain/{before}"]) == expected, (step, before)
            expected = [2, n, 2, n, 0, 0, data("deflated", step, (2, n)).sum()]
            assert list(found[f"tailraceAction_shapes_deflated/{step}"]) == expected


@pytest.mark.parametrize("parts", [(3, 4), (0, 4), (7, 0), (0, 0)])
def test_nodes_without_a_part_are_joined(parts, config, tmp_path):
    file = config("core, clients: 1, node: node")
    file.write_text(file.read_text().replace("storage: {", "storage: {file_per: node, "))
    for node, n in enumerate(parts):
        with tailrace.open(file, node, parameters={"node": node, "m": 1}) as out:
            out.set_parameters(n=n, first=sum(parts[:node]), total=sum(parts))
            out.write("plain", 0, 10.0 * node + np.arange(n))
            out.end_iteration(0)
        wait_for_no_server()  # the two nodes are one here
    subprocess.run([sys.executable, "-m", "tailrace.cli", "join", tmp_path / "out"], check=True)
    with h5py.File(tmp_path / "out/sim_000000.h5") as joined:
        whole = joined["data/0/meshes/plain"][...]
    assert np.array_equal(whole, np.concatenate([10.0 * node + np.arange(n) for node, n in enumerate(parts)]))


def test_the_example_of_particles(tmp_path):
    shutil.copy(REPOSITORY / "examples/core/particles.yaml", tmp_path)
    subprocess.run([sys.executable, REPOSITORY / "examples/core/particles.py"], cwd=tmp_path, check=True)
    files = sorted((tmp_path / "out").glob("*.h5"))
    assert [file.name for file in files] == [f"particles_n0_{step:06d}.h5" for step in range(6)]
    counts = set()
    for step, path in enumerate(files):
        with h5py.File(path) as file:
            meshes = file[f"data/{step}/meshes"]
            assert sorted(meshes) == ["identity", "position"] + ["velocity"] * (step % 2 == 0)
            assert sorted(meshes["identity"][:]) == list(range(900)), "each is there once"
            # The parts of the clients, side by side: each has what is in its quarter.
            blocks = sorted(map(tuple, meshes["position"].attrs["tailraceBlocks"].reshape(-1, 2)))
            position = meshes["position"][:]
            assert sum(count for _, count in blocks) == 900
            for first, count in blocks:
                part = position[first:first + count]
                assert len(set((part * 4).astype(int))) == 1
            counts.add(tuple(count for _, count in blocks))
    assert len(counts) == 6, "the numbers change each time"
