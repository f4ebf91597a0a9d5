"""`tailrace join` of bricks: parts of arrays with three dimensions, plain and filtered, of clients and of nodes.

The test opens clients with their own files one after the other; clients that share a node's file are processes, one
for each node.
"""

import functools
import itertools
import os
import pathlib
import random
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from conftest import own_node
from tailrace.cli import boxes

CONFIG = """\
tailrace: 1
name: sim
place: {place}
memory: {{budget: 1 MiB}}
storage: {{path: {path}, file_per: {file_per}}}
parameters: {{node: 0, x: 0, y: 0, z: 0, nx: 3}}
layouts:
  brick:
    {{type: float64, shape: [2, 3, nx], global: [4, 6, 6], offset: [z, y, x], axes: [z, y, x],
     origin: [0.1, 0.2, 0.3], spacing: [0.7, 0.3, 0.1], unit: m}}
  light: {{type: float32, shape: [2, 3, nx], global: [4, 6, 6], offset: [z, y, x]}}
  own: {{type: int32, shape: [4]}}
variables:
  height: {{layout: brick, unit: m, description: of the surface}}
  speed: {{layout: brick, unit: m/s, compress: {{filter: deflate, level: 1, chunk: 4 KiB}}}}
  half: {{layout: light, precision: float16, compress: {{filter: deflate, adaptive: false}}}}
  count: {{layout: own}}
"""
SHAPE = (4, 6, 6)
BRICK = (2, 3, 3)
CORNERS = list(itertools.product(*(range(0, whole, part) for whole, part in zip(SHAPE, BRICK))))  # by client
STEPS = (0, 3)
NODE = """
import sys, numpy, tailrace
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/../.."]
import test_join_bricks as bricks
node, left_out = int(sys.argv[3]), eval(sys.argv[4])
clients = range(4 * node, 4 * node + 4)
opened = [tailrace.open(sys.argv[1], client, parameters=bricks.known(client, node)) for client in clients]
for step in bricks.STEPS:
    for client, out in zip(clients, opened):
        bricks.hand_over(out, client, step, left_out)
for out in opened:
    out.close()
"""


def whole(name, step):
    """The model: what all clients have written of a variable. float16 represents the numbers of `half` nearly."""
    values = np.arange(np.prod(SHAPE), dtype=np.float64).reshape(SHAPE) + 1000 * step + 1
    return values.astype(np.float32) / 3 if name == "half" else values if name == "height" else -values


def part(client):
    return tuple(slice(corner, corner + size) for corner, size in zip(CORNERS[client], BRICK))


def known(client, node=0):
    z, y, x = CORNERS[client]
    return {"node": node, "z": z, "y": y, "x": x}


def hand_over(out, client, step, left_out=()):
    for name in ("height", "speed", "half"):
        if (name, client) not in left_out:
            out.write(name, step, np.ascontiguousarray(whole(name, step)[part(client)]))
    out.write("count", step, np.arange(4, dtype="i4") + client)
    out.end_iteration(step)


def write_config(folder, file_per):
    file = folder / "sim.yaml"
    place = "{kind: thread}" if file_per == "process" else "{kind: core, clients: 4, node: node}"
    file.write_text(CONFIG.format(path=folder / "out", file_per=file_per, place=place))
    return file


def run_clients(folder, clients=range(8), change=known, left_out=()):
    """Each client has its own files."""
    config = write_config(folder, "process")
    for client in clients:
        with tailrace.open(config, client, parameters=change(client)) as out:
            for step in STEPS:
                hand_over(out, client, step, left_out)
    return folder / "out"


def run_nodes(folder, left_out=()):
    """Two nodes of four clients."""
    config = write_config(folder, "node")
    for node in (0, 1):
        with own_node():
            here = pathlib.Path(__file__).parent
            subprocess.run([sys.executable, "-c", NODE, config, here, str(node), repr(left_out)], check=True)
    return folder / "out"


@pytest.fixture(scope="module", params=("process", "node"))
def written(request, tmp_path_factory):
    """The files of a run; tests take copies."""
    return (run_clients if request.param == "process" else run_nodes)(tmp_path_factory.mktemp(request.param))


@pytest.fixture
def files(written, tmp_path):
    return pathlib.Path(shutil.copytree(written, tmp_path / "copy"))


@pytest.fixture
def run(run):
    return functools.partial(run, "join")


def refused(run, directory, *expected):
    code, _, message = run(directory)
    assert code == 1 and message.count("\n") == 1, message
    for words in expected:
        assert words in message
    assert not list(directory.glob("*.part"))


def brick_of(file, name, client):
    """Returns the dataset with a client's block, in its node's file or its own."""
    meshes = file[next(iter(file["data"].values())).name]["meshes"]
    return meshes[f"{name}_c{client}" if f"{name}_c{client}" in meshes else name]


def file_with(directory, client, step=3):
    """Returns the file with a client's blocks."""
    name = f"sim_c{client}" if (directory / "sim_c0_000000.h5").exists() else f"sim_n{client // 4}"
    return directory / f"{name}_{step:06d}.h5"


def test_bricks_become_the_whole(files, run):
    count = len(list(files.glob("*.h5")))
    assert run(files) == (0, f"{files}: 2 iterations joined from {count} files\n", "")
    for step in STEPS:
        with h5py.File(files / f"sim_{step:06d}.h5") as file:
            meshes = file[f"data/{step}/meshes"]
            assert sorted(meshes) == sorted(["height", "speed", "half", *(f"count_c{client}" for client in range(8))])
            for name in ("height", "speed"):
                assert meshes[name].is_virtual and meshes[name].dtype == np.float64
                np.testing.assert_array_equal(meshes[name], whole(name, step))
            assert meshes["half"].is_virtual and meshes["half"].dtype == np.float16
            np.testing.assert_array_equal(meshes["half"], whole("half", step).astype(np.float16))
            for client in range(8):
                np.testing.assert_array_equal(meshes[f"count_c{client}"], np.arange(4) + client)


def test_what_is_said_of_the_whole_is_true_of_it(files, run):
    assert run(files)[0] == 0
    with h5py.File(files / "sim_000003.h5") as file:
        assert "tailraceClient" not in file.attrs and "tailraceNode" not in file.attrs
        meshes = file["data/3/meshes"]
        for name in ("height", "speed", "half"):
            said = meshes[name].attrs
            assert list(said["tailraceOffset"]) == [0, 0, 0] and tuple(said["tailraceGlobalShape"]) == SHAPE
            rows = said["tailraceBlocks"].reshape(-1, 6)
            assert sorted(map(tuple, rows)) == [(*corner, *BRICK) for corner in CORNERS]
        assert list(meshes["height"].attrs["gridGlobalOffset"]) == [0.1, 0.2, 0.3]
        half = meshes["half"].attrs
        model = whole("half", 3)
        assert half["tailraceLargestError"] == np.abs(model.astype(np.float16).astype(np.float64) - model).max()
        assert half["tailraceOverflows"] == 0


def test_overflows_are_added_up(tmp_path, run):
    out = run_clients(tmp_path)
    for client in range(8):
        with h5py.File(file_with(out, client), "a") as file:
            file["data/3/meshes/half"].attrs.update({
                "tailraceOverflows": np.uint64(client), "tailraceLargestError": float(client % 5),
                "tailraceFilterRelaxed": np.array([1, client], dtype="u8")})
    assert run(out)[0] == 0
    with h5py.File(out / "sim_000003.h5") as file:
        said = file["data/3/meshes/half"].attrs
        assert said["tailraceOverflows"] == 28 and said["tailraceLargestError"] == 4
        assert list(said["tailraceFilterRelaxed"]) == [8, 28]


def test_the_origin_without_the_first_client(tmp_path, run):
    out = run_clients(tmp_path, clients=range(1, 8))
    assert run(out)[0] == 1
    with h5py.File(out / "sim_000000.h5") as file:
        height = file["data/0/meshes/height"]
        np.testing.assert_allclose(height.attrs["gridGlobalOffset"], [0.1, 0.2, 0.3], rtol=1e-12)


def test_openpmd_api_reads_the_whole(files, run):
    api = pytest.importorskip("openpmd_api")
    for path in files.glob("*.h5"):  # it has no float16, and leaves out everything beside one
        with h5py.File(path, "a") as file:
            meshes = file[f"data/{int(path.stem[-6:])}/meshes"]
            for name in [name for name in meshes if name.startswith("half")]:
                del meshes[name]
    assert run(files)[0] == 0
    series = api.Series(str(files / "sim_%06T.h5"), api.Access.read_only)
    assert list(series.iterations) == list(STEPS)
    for step in STEPS:
        for name in ("height", "speed"):
            mesh = series.iterations[step].meshes[name]
            found = mesh[api.Mesh_Record_Component.SCALAR].load_chunk()
            series.flush()
            np.testing.assert_array_equal(found, whole(name, step))
        assert mesh.axis_labels == ["z", "y", "x"]
    series.close()


def test_the_openpmd_validator_finds_no_error(files, run):
    pytest.importorskip("openpmd_validator")
    assert run(files)[0] == 0
    result = subprocess.run([sys.executable, "-m", "openpmd_validator.check_h5", "-i", files / "sim_000003.h5"],
                            capture_output=True, text=True)
    assert result.returncode == 0 and "Result: 0 Errors" in result.stdout, result.stdout


def test_joined_again_and_moved_it_is_the_same(files, run, tmp_path):
    for _ in range(2):
        assert run(files)[0] == 0
    moved = files.rename(tmp_path / "elsewhere")
    with h5py.File(moved / "sim_000000.h5") as file:
        np.testing.assert_array_equal(file["data/0/meshes/speed"], whole("speed", 0))


def test_a_brick_that_is_in_no_file(files, run):
    """Changes client 5, the brick at z = 2, y = 0, x = 3, in one iteration."""
    path = file_with(files, 5)
    with h5py.File(path, "a") as file:
        for name in ("height", "speed"):
            dataset = brick_of(file, name, 5)
            del dataset.parent[dataset.name]
    code, text, message = run(files)
    assert code == 1 and "2 iterations joined" in text
    assert sorted(message.splitlines()) == [
        f"tailrace: {files}/sim_000003.h5: {name}: 18 of 144 elements are in no file, and read as NaN: "
        "[2:4, 0:3, 3:6]" for name in ("height", "speed")]
    with h5py.File(files / "sim_000003.h5") as file:
        for name in ("height", "speed"):
            model = whole(name, 3)
            model[part(5)] = np.nan
            np.testing.assert_array_equal(file[f"data/3/meshes/{name}"], model)
            rows = file[f"data/3/meshes/{name}"].attrs["tailraceBlocks"].reshape(-1, 6)
            assert sorted(map(tuple, rows)) == [(*corner, *BRICK) for corner in CORNERS if corner != (2, 0, 3)]


def test_clients_that_never_came(tmp_path, run):
    out = run_clients(tmp_path, clients=(0, 1, 2, 3, 5))
    code, _, message = run(out)
    assert code == 1
    assert f"{out}/sim_000000.h5: height: 54 of 144 elements are in no file, and read as NaN: " in message
    assert "[2:4, 3:6, 0:6], [2:4, 0:3, 0:3]" in message


def test_an_iteration_that_some_have_not(tmp_path, run):
    out = run_clients(tmp_path)
    file_with(out, 7).unlink()
    code, text, message = run(out)
    assert code == 1 and "2 iterations joined from 15 files" in text
    assert message.count("sim_000003.h5") == 3 and "sim_000000.h5" not in message, message
    assert message.count("18 of 144 elements are in no file, and read as NaN: [2:4, 3:6, 3:6]") == 3


def test_a_node_says_who_was_missing(tmp_path, run):
    out = run_nodes(tmp_path, left_out=(("speed", 6), ("height", 1)))
    for node, missing in ((0, [1]), (1, [6, 7])):
        with h5py.File(out / f"sim_n{node}_000003.h5", "a") as file:
            file["data/3"].attrs["tailraceMissingClients"] = np.array(missing, dtype="u8")
    code, _, message = run(out)
    assert code == 1 and message.count("18 of 144") == 4
    with h5py.File(out / "sim_000003.h5") as file:
        assert list(file["data/3"].attrs["tailraceMissingClients"]) == [1, 6, 7]
        model = whole("speed", 3)
        model[part(6)] = np.nan
        np.testing.assert_array_equal(file["data/3/meshes/speed"], model)


def test_bricks_that_overlap(tmp_path, run):
    out = run_clients(tmp_path, change=lambda client: known(client) | ({"x": 2} if client == 5 else {}))
    code, text, message = run(out)
    assert code == 1 and "0 iterations joined" in text and not list(out.glob("sim_0*"))
    for words in ("sim_c5_000003.h5: ", "found the same part", "[2:4, 0:3, 2:5]", "sim_c4_000003.h5"):
        assert words in message


def test_bricks_of_one_file_that_overlap(tmp_path, run):
    out = run_nodes(tmp_path)
    path = file_with(out, 5)
    with h5py.File(path, "a") as file:
        file["data/3/meshes/speed_c5"].attrs["tailraceOffset"] = np.array([2, 0, 2], dtype="u8")
    refused(run, out, path.name, "speed_c5", "speed_c4", "the same part")


def test_a_brick_outside_the_whole(files, run):
    with h5py.File(file_with(files, 5), "a") as file:
        brick_of(file, "height", 5).attrs["tailraceOffset"] = np.array([2, 0, 4], dtype="u8")
    refused(run, files, file_with(files, 5).name, "height", "outside the array, [2:4, 0:3, 4:7] of (4, 6, 6)")


def test_bricks_of_other_wholes(files, run):
    with h5py.File(file_with(files, 5), "a") as file:
        brick_of(file, "height", 5).attrs["tailraceGlobalShape"] = np.array([4, 6, 7], dtype="u8")
    refused(run, files, file_with(files, 5).name, "height", "shape (4, 6, 7), expected (4, 6, 6)")


@pytest.mark.parametrize("name", ["tailraceOffset", "tailraceGlobalShape"])
def test_a_brick_without_a_place(files, run, name):
    with h5py.File(file_with(files, 5), "a") as file:
        del brick_of(file, "speed", 5).attrs[name]
    refused(run, files, file_with(files, 5).name, "speed", f"found no attribute {name}")


def test_bricks_of_other_types(files, run):
    with h5py.File(file_with(files, 5), "a") as file:
        dataset = brick_of(file, "height", 5)
        name, meshes, said = dataset.name, dataset.parent, dict(dataset.attrs)
        del meshes[name]
        meshes.create_dataset(name, data=np.zeros(BRICK, dtype="f4")).attrs.update(said)
    refused(run, files, file_with(files, 5).name, "height", "found type float32, expected float64")


def test_files_of_nodes_beside_files_of_clients(files, run):
    other = "sim_n9" if file_with(files, 0).name.startswith("sim_c") else "sim_c9"
    shutil.copy(file_with(files, 0), files / f"{other}_000003.h5")
    refused(run, files, "found files of nodes and of clients", "iteration 3")
    assert (files / "sim_000000.h5").exists()


def test_an_empty_brick_is_no_part(tmp_path, run):
    out = run_clients(tmp_path, clients=range(7))
    config = write_config(tmp_path, "process")
    with tailrace.open(config, 7, parameters=known(7) | {"nx": 0}) as last:
        for step in STEPS:
            for name in ("height", "speed"):
                last.write(name, step, np.zeros((2, 3, 0)))
            last.end_iteration(step)
    code, _, message = run(out)
    assert code == 1 and message.count("18 of 144 elements are in no file, and read as NaN: [2:4, 3:6, 3:6]") == 6
    with h5py.File(out / "sim_000000.h5") as file:
        model = whole("speed", 0)
        model[part(7)] = np.nan
        np.testing.assert_array_equal(file["data/0/meshes/speed"], model)


MIXED = """\
tailrace: 1
name: sim
place: {{kind: core, clients: 3}}
memory: {{budget: 1 MiB}}
storage: {{path: {path}, file_per: node}}
parameters: {{rows: 2, columns: 6, y: 0, x: 0}}
layouts:
  part: {{type: float64, shape: [rows, columns], global: [4, 6], offset: [y, x]}}
variables:
  height: {{layout: part}}
"""


def test_slabs_and_bricks_of_one_array(tmp_path, run):
    """A node's file has the slab in a dataset of the whole array, and each brick in its own dataset."""
    config = tmp_path / "sim.yaml"
    config.write_text(MIXED.format(path=tmp_path / "out"))
    model = np.arange(24.0).reshape(4, 6) + 1
    parts = [{"rows": 2, "columns": 6, "y": 0, "x": 0}, {"rows": 2, "columns": 2, "y": 2, "x": 0},
             {"rows": 2, "columns": 4, "y": 2, "x": 2}]
    with own_node():
        clients = [tailrace.open(config, client, parameters=of) for client, of in enumerate(parts)]
        for out, of in zip(clients, parts):
            block = model[of["y"]:of["y"] + of["rows"], of["x"]:of["x"] + of["columns"]]
            out.write("height", 0, np.ascontiguousarray(block))
            out.end_iteration(0)
        for out in clients:
            out.close()
    with h5py.File(tmp_path / "out/sim_n0_000000.h5") as file:
        assert sorted(file["data/0/meshes"]) == ["height", "height_c1", "height_c2"]
    assert run(tmp_path / "out")[::2] == (0, "")
    with h5py.File(tmp_path / "out/sim_000000.h5") as file:
        assert list(file["data/0/meshes"]) == ["height"]
        np.testing.assert_array_equal(file["data/0/meshes/height"], model)


def test_what_is_left_of_a_box():
    seed = int(os.environ.get("TAILRACE_SEED", random.randrange(1 << 31)))
    print("TAILRACE_SEED:", seed)
    rng = random.Random(seed)
    for _ in range(200):
        shape = tuple(rng.randint(1, 7) for _ in range(rng.randint(1, 3)))
        taken = [tuple(slice(*sorted((rng.randint(0, extent), rng.randint(0, extent)))) for extent in shape)
                 for _ in range(rng.randint(0, 8))]
        model = np.ones(shape, dtype=int)
        for box in taken:
            model[box] = 0
        left = boxes.left_of(shape, taken)
        found = np.zeros(shape, dtype=int)
        for box in left:
            assert boxes.size(box) > 0
            found[box] += 1
        np.testing.assert_array_equal(found, model)
        for one, two in itertools.product(taken, taken):
            both = np.zeros(shape, dtype=int)
            both[one] += 1
            both[two] += 1
            assert boxes.overlap(one, two) == (both.max() == 2)
