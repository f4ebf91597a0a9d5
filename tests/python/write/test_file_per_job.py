"""`file_per: job`: one file of an iteration for all clients, in which global arrays are ordinary datasets.

What h5py reads is compared with NumPy arrays that the tests compute. The clients are all in this process: they share
a server as those of any program do.
"""

import contextlib
import os
import socket
import subprocess
import sys
import warnings

import h5py
import numpy as np
import pytest
import tailrace
from conftest import flush_until_told, own_node

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: core, clients: {clients}, cpus: none, patience: 60}}
memory: {{budget: 4 MiB}}
storage: {{path: {path}, file_per: job, existing: continue}}
parameters: {{y: 0, x: 0, n: 0}}
layouts:
  line: {{type: int32, shape: [5], global: [30], offset: [n]}}
  tile: {{type: float64, shape: [4, 6], global: [8, 18], offset: [y, x], axes: [y, x], spacing: [2, 1]}}
  brick: {{type: float32, shape: [2, 4, 6], global: [2, 8, 18], offset: [0, y, x]}}
  own: {{type: uint8, shape: [3]}}
variables:
  line: {{layout: line}}
  tile: {{layout: tile, unit: K, description: of the air}}
  brick: {{layout: brick}}
  packed: {{layout: tile, compress: {{filter: deflate, level: 1}}}}
  own: {{layout: own}}
"""
GRID = (2, 3)  # clients
CLIENTS = GRID[0] * GRID[1]


@pytest.fixture
def config(tmp_path):
    def write(clients=CLIENTS, more=""):
        file = tmp_path / "sim.yaml"
        file.write_text(CONFIG.format(path=tmp_path / "out", clients=clients) + more)
        return file

    return write


def whole(variable, step):
    shape, dtype = {"line": ((30,), "i4"), "tile": ((8, 18), "f8"), "brick": ((2, 8, 18), "f4")}[variable]
    return (np.arange(np.prod(shape)).reshape(shape) + 1000 * (step + 1)).astype(dtype)


def corner(client):
    return 4 * (client // GRID[1]), 6 * (client % GRID[1])


def part(variable, step, client):
    y, x = corner(client)
    where = {"line": np.s_[5 * client:5 * client + 5], "tile": np.s_[y:y + 4, x:x + 6],
             "brick": np.s_[:, y:y + 4, x:x + 6]}[variable]
    return np.ascontiguousarray(whole(variable, step)[where])


def open_all(stack, file, clients=range(CLIENTS)):
    opened = []
    for client in clients:
        y, x = corner(client)
        parameters = {"y": y, "x": x, "n": 5 * client}
        opened.append(stack.enter_context(tailrace.open(file, client, parameters=parameters)))
    return opened


def write_all(clients, step, without=()):
    for client, out in enumerate(clients):
        for variable in ("line", "tile", "brick"):
            if (client, variable) not in without:
                out.write(variable, step, part(variable, step, client))
        out.write("packed", step, part("tile", step, client))
        out.write("own", step, np.full(3, client, "u1"))


def end_all(clients, step):
    for out in clients:
        out.end_iteration(step)


def test_every_global_array_is_one_ordinary_dataset(config, tmp_path, run):
    with own_node(), contextlib.ExitStack() as stack:
        clients = open_all(stack, config())
        for step in (0, 3):
            write_all(clients, step)
            for client, out in enumerate(clients):  # a client's reads see its own pending writes
                np.testing.assert_array_equal(out.read("tile", step), part("tile", step, client))
            end_all(clients, step)
        clients[2].flush()
    out = tmp_path / "out"
    assert sorted(path.name for path in out.glob("*.h5*")) == ["sim_000000.h5", "sim_000003.h5"]
    assert not [name for name in os.listdir(out) if name.endswith(".lock")]
    for step in (0, 3):
        with h5py.File(out / f"sim_{step:06d}.h5") as file:
            assert file.attrs["iterationFormat"] == b"sim_%06T"
            assert "tailraceNode" not in file.attrs and "tailraceClient" not in file.attrs
            meshes = file[f"data/{step}/meshes"]
            names = ["brick", "line", "tile"] + [f"{name}_c{c}" for name in ("own", "packed") for c in range(CLIENTS)]
            assert sorted(meshes) == sorted(names)
            for variable in ("line", "tile", "brick"):
                assert not meshes[variable].is_virtual and meshes[variable].chunks is None
                np.testing.assert_array_equal(meshes[variable], whole(variable, step))
                assert meshes[variable].dtype == whole(variable, step).dtype
            assert len(meshes["tile"].attrs["tailraceBlocks"].reshape(-1, 4)) == CLIENTS
            assert list(meshes["tile"].attrs["gridGlobalOffset"]) == [0, 0]
            for client in range(CLIENTS):
                np.testing.assert_array_equal(meshes[f"packed_c{client}"], part("tile", step, client))
                assert (meshes[f"own_c{client}"][...] == client).all()
            assert "tailraceMissingClients" not in file[f"data/{step}"].attrs
    code, text, _ = run("inspect", out)
    assert code == 0 and "sim_%06T.h5" in text and "0 … 3" in text
    code, text, _ = run("inspect", out / "sim_000003.h5")
    assert code == 0 and "8 × 18" in text


def test_strangers_read_the_series(config, tmp_path):
    api = pytest.importorskip("openpmd_api")
    with own_node(), contextlib.ExitStack() as stack:
        clients = open_all(stack, config())
        for step in range(2):
            write_all(clients, step)
            end_all(clients, step)
    series = api.Series(str(tmp_path / "out/sim_%06T.h5"), api.Access.read_only)
    assert list(series.iterations) == [0, 1]
    tile = series.iterations[1].meshes["tile"][api.Mesh_Record_Component.SCALAR].load_chunk()
    series.flush()
    np.testing.assert_array_equal(tile, whole("tile", 1))
    series.close()
    validated = subprocess.run([sys.executable, "-m", "openpmd_validator.check_h5", "-i",
                                tmp_path / "out/sim_000001.h5"], capture_output=True, text=True)
    assert validated.returncode == 0 and "Result: 0 Errors" in validated.stdout, validated.stdout


def test_blocks_of_earlier_runs_are_read(config):
    file = config()
    with own_node(), contextlib.ExitStack() as stack:
        clients = open_all(stack, file)
        write_all(clients, 0, without={(4, "tile")})
        end_all(clients, 0)
    with own_node(), contextlib.ExitStack() as stack:
        clients = open_all(stack, file)
        for client in (0, 5):
            for variable in ("line", "tile", "brick"):
                np.testing.assert_array_equal(clients[client].read(variable, 0), part(variable, 0, client))
        with pytest.raises(tailrace.Error) as caught:
            clients[4].read("tile", 0)
        assert caught.value.code == tailrace.Status.NOT_FOUND
        end_all(clients, 0)


def test_what_nobody_wrote_is_a_hole_and_of_a_missing_client_no_number(tmp_path):
    file = tmp_path / "sim.yaml"
    file.write_text(f"""\
tailrace: 1
name: sim
place: {{kind: core, clients: 2, cpus: none, patience: 60}}
storage: {{path: {tmp_path / 'out'}, file_per: job}}
layouts:
  tile: {{type: float64, shape: [256, 512], global: [1024, 2048], offset: [512, first]}}
variables:
  u: {{layout: tile}}
  filled: {{layout: tile, fill_value: -9999}}
""")
    block = np.arange(256 * 512, dtype="f8").reshape(256, 512)
    with own_node(), contextlib.ExitStack() as stack:
        one = stack.enter_context(tailrace.open(file, 0, parameters={"first": 1024}))
        two = stack.enter_context(tailrace.open(file, 1, parameters={"first": 0}))
        one.write("u", 7, block)
        one.write("filled", 7, block)
        end_all((one, two), 7)
        one.write("u", 8, block)
        two.close()  # without ending it
        one.end_iteration(8)
        with pytest.raises(tailrace.Error, match="iteration 8 has ended without client 1, which has gone") as told:
            flush_until_told(one)
        assert told.value.code == tailrace.Status.CLIENTS_MISSING
        one.write("u", 9, block)
        one.end_iteration(9)
        one.flush()  # it is told once
    for step in (7, 8, 9):
        path = tmp_path / f"out/sim_{step:06d}.h5"
        expected = np.full((1024, 2048), 0 if step == 7 else np.nan)
        expected[512:768, 1024:1536] = block
        with h5py.File(path) as opened:
            np.testing.assert_array_equal(opened[f"data/{step}/meshes/u"], expected)
            if step == 7:
                filled = np.where(expected == 0, -9999, expected)
                filled[512, 1024] = 0
                np.testing.assert_array_equal(opened["data/7/meshes/filled"], filled)
            missing = opened[f"data/{step}"].attrs.get("tailraceMissingClients", np.array([]))
            assert list(missing) == ([] if step == 7 else [1])
        found = path.stat()
        assert found.st_size >= expected.nbytes
        if step == 7:
            assert 512 * found.st_blocks < 1.5 * expected.nbytes, "u is sparse"
    with pytest.warns(UserWarning, match="sim: iteration 8 … 9 lacks data of client 1"):
        series = tailrace.read(tmp_path / "out")
    assert np.isnan(series["u"][1]).sum() == expected.size - block.size
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tailrace.read(tmp_path / "out", iterations=[7])
    shown = subprocess.run([sys.executable, "-m", "tailrace", "inspect", tmp_path / "out"], capture_output=True,
                           text=True, check=True)
    assert "sim: iteration 8 … 9 lacks data of client 1" in shown.stdout + shown.stderr


def random_cuts(random, length, most):
    cuts = sorted(random.integers(0, length + 1, size=random.integers(0, most)).tolist())
    return list(zip([0, *cuts], [*cuts, length]))


def random_parts(random, shape, most):
    """Returns a grid of at most `most` blocks that cover the whole; some of them may be empty."""
    parts = [[]]
    for length in shape:
        cuts = random_cuts(random, length, 3)
        if len(parts) * len(cuts) > most:
            cuts = [(0, length)]
        parts = [[*part, cut] for part in parts for cut in cuts]
    return parts


def test_any_decomposition_equals_numpy(tmp_path):
    seed = int(os.environ.get("TAILRACE_SEED", 0)) or int.from_bytes(os.urandom(4), "little")
    print("repeat with TAILRACE_SEED =", seed)
    random = np.random.default_rng(seed)
    most = 8
    dtypes = ["uint8", "int16", "float32", "float64"]
    layouts, names = "", []
    for rank, dtype in enumerate(dtypes, 1):
        keys = {key: ", ".join(f"{key}{rank}_{axis}" for axis in range(rank)) for key in "sgo"}
        layouts += (f"  a{rank}: {{type: {dtype}, shape: [{keys['s']}], global: [{keys['g']}], "
                    f"offset: [{keys['o']}]}}\n")
        names += ", ".join(keys.values()).split(", ")
    first = {name: 0 if name[0] == "o" else 1 for name in names}
    file = tmp_path / "sim.yaml"
    file.write_text(f"""\
tailrace: 1
name: sim
place: {{kind: core, clients: {most}, cpus: none, patience: 60}}
memory: {{budget: 1 MiB}}
storage: {{path: {tmp_path / 'out'}, file_per: job}}
parameters: {{{', '.join(f'{name}: {value}' for name, value in first.items())}}}
layouts:
{layouts}variables:
  a1: {{layout: a1}}
  a2: {{layout: a2}}
  a3: {{layout: a3}}
  a4: {{layout: a4}}
""")
    expected = {}
    with own_node(), contextlib.ExitStack() as stack:
        clients = [stack.enter_context(tailrace.open(file, client)) for client in range(most)]
        for step in range(12):
            for rank, dtype in enumerate(dtypes, 1):
                shape = tuple(random.integers(1, [4000, 70, 18, 9][rank - 1], size=rank).tolist())
                model = random.integers(1, 100, size=shape).astype(dtype)
                parts = random_parts(random, shape, most)
                random.shuffle(parts)
                came = False
                for out, where in zip(clients, parts):
                    values = {}
                    for axis, (start, stop) in enumerate(where):
                        values |= {f"s{rank}_{axis}": stop - start, f"o{rank}_{axis}": start,
                                   f"g{rank}_{axis}": shape[axis]}
                    out.set_parameters(**values)
                    block = model[tuple(slice(*cut) for cut in where)]
                    if random.random() < 0.1:
                        block[...] = 0  # in the model, too
                        continue
                    came = True
                    out.write(f"a{rank}", step, np.ascontiguousarray(block))
                    if random.random() < 0.3:
                        np.testing.assert_array_equal(out.read(f"a{rank}", step), block)
                if came:
                    expected[step, f"a{rank}"] = model
            end_all(clients, step)
    for step in range(12):
        with h5py.File(tmp_path / f"out/sim_{step:06d}.h5") as opened:
            meshes = opened[f"data/{step}/meshes"]
            assert sorted(meshes) == sorted(variable for of, variable in expected if of == step)
            for variable in meshes:
                assert not meshes[variable].is_virtual
                np.testing.assert_array_equal(meshes[variable], expected[step, variable], f"{step} {variable}")


def test_a_second_server_of_the_same_files_is_refused(config, tmp_path):
    file = config(clients=2)
    with own_node(), tailrace.open(file, 0) as first:
        with own_node(), pytest.raises(tailrace.Error) as caught:  # as on another node
            tailrace.open(file, 1)
        assert caught.value.code == tailrace.Status.CLIENT_IN_USE
        assert ".sim_job.lock" in str(caught.value) and f"on {socket.gethostname()}" in str(caught.value)
        # It was not disturbed.
        with tailrace.open(file, 1) as second:
            first.write("own", 0, np.full(3, 7, "u1"))
            end_all((first, second), 0)
    assert (tmp_path / "out/sim_000000.h5").exists()


def test_a_client_that_counts_others_is_refused(config):
    text = config(clients=2).read_text()
    with own_node(), tailrace.open("sim.yaml", 0, text=text):
        for found, expected in (("clients: 3", "place.clients '3', expected '2'"),
                                ("file_per: node", "storage.file_per 'node', expected 'job'")):
            other = text.replace("clients: 2" if "clients" in found else "file_per: job", found)
            with pytest.raises(tailrace.Error, match=expected):
                tailrace.open("sim.yaml", 1, text=other)
        tailrace.open("sim.yaml", 1, text=text).close()  # otherwise the server would wait for it


def test_recover_removes_what_a_dead_job_left(config, tmp_path, run):
    writer = """
import sys, numpy, os, tailrace
out = tailrace.open(sys.argv[1], 0)
out.write("own", 0, numpy.zeros(3, "u1"))
out.end_iteration(0)
out.write("own", 1, numpy.zeros(3, "u1"))
out.read("own", 1)
os._exit(0)
"""
    with own_node():
        subprocess.run([sys.executable, "-c", writer, config(clients=1)], check=True)
    out = tmp_path / "out"
    assert sorted(path.name for path in out.glob("*.h5*")) == ["sim_000000.h5", "sim_000001.h5.part"]
    (out / "sim_000000.h5").rename(out / "sim_000000.h5.part")
    (out / ".sim_job.lock").touch()
    code, text, _ = run("recover", out)
    assert code == 0 and "sim_000001.h5.part" in text and "published" in text and ".sim_job.lock" in text
    assert [path.name for path in out.glob("*.h5*")] == ["sim_000000.h5"] and not (out / ".sim_job.lock").exists()


def test_join_does_not_write_over_a_jobs_file(config, tmp_path, run):
    with own_node(), tailrace.open(config(clients=1)) as client:
        client.write("own", 0, np.zeros(3, "u1"))
        client.end_iteration(0)
    out = tmp_path / "out"
    before = (out / "sim_000000.h5").read_bytes()
    (out / "sim_n0_000000.h5").write_bytes(before)
    code, _, message = run("join", out)
    assert code == 1 and "sim_000000.h5: found a file that holds data, as of a run with file_per: job" in message
    assert (out / "sim_000000.h5").read_bytes() == before
