"""Files of nodes, and `tailrace join`: a global array over two nodes' files, read back by h5py and openPMD's readers.

The nodes are two runtime directories of this machine, so that their jobs do not meet, with one output directory.
"""

import pathlib
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from conftest import flush_until_told, own_node

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: core, clients: {clients}, node: node}}
memory: {{budget: 1 MiB}}
storage: {{path: {path}, file_per: node, existing: continue}}
parameters: {{node: 0, first: 0}}
layouts:
  slab:
    {{type: float64, shape: [3, 5], global: [12, 5], offset: [first, 0],
     axes: [y, x], spacing: [2, 1], unit: m}}
  own: {{type: int32, shape: [4]}}
variables:
  height: {{layout: slab, unit: m, description: of the surface}}
  speed: {{layout: slab, unit: m/s, compress: {{filter: deflate, level: 1}}}}
  count: {{layout: own}}
"""
STEPS = (0, 3)
CLIENTS = 4  # two on each node

# A client of a node, in a separate process: writes the steps, all variables but those that it leaves out.
CLIENT = """
import sys, numpy, tailrace
file, client, node, left_out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(",")
with tailrace.open(file, client, parameters={"node": node, "first": 3 * client}) as out:
    for step in map(int, sys.argv[5].split(",")):
        rows = numpy.arange(15.0).reshape(3, 5) + 100 * client + 1000 * step
        for name, array in {"height": rows, "speed": -rows, "count": numpy.arange(4, dtype="i4") + client}.items():
            if name not in left_out:
                out.write(name, step, array)
        out.end_iteration(step)
"""


def whole(step):
    """The model: what all clients have written of `height`, one below the other."""
    return np.concatenate([np.arange(15.0).reshape(3, 5) + 100 * client + 1000 * step for client in range(CLIENTS)])


def run_node(folder, node, left_out=("", ""), *, steps=STEPS):
    """Runs the two clients of a node to their end; the server ends with the last."""
    file = folder / "sim.yaml"
    file.write_text(CONFIG.format(path=folder / "out", clients=2))
    with own_node():
        processes = []
        for client, absent in zip((2 * node, 2 * node + 1), left_out):
            arguments = [file, str(client), str(node), absent, ",".join(map(str, steps))]
            processes.append(subprocess.Popen([sys.executable, "-c", CLIENT, *arguments]))
        assert [process.wait() for process in processes] == [0, 0]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The files of two nodes; tests take copies."""
    folder = tmp_path_factory.mktemp("nodes")
    for node in (0, 1):
        run_node(folder, node)
    return folder / "out"


@pytest.fixture
def nodes(written, tmp_path):
    return pathlib.Path(shutil.copytree(written, tmp_path / "out"))


def names(out):
    return sorted(path.name for path in out.glob("*.h5*"))


def files_of_nodes(count=2):
    return [f"sim_n{node}_{step:06d}.h5" for node in range(count) for step in STEPS]


def test_a_node_has_one_file(nodes):
    assert names(nodes) == files_of_nodes()
    for node in (0, 1):
        for step in STEPS:
            with h5py.File(nodes / f"sim_n{node}_{step:06d}.h5") as file:
                meshes = file[f"data/{step}/meshes"]
                mine = (2 * node, 2 * node + 1)
                assert sorted(meshes) == sorted(["height", *(f"{name}_c{client}" for name in ("speed", "count")
                                                             for client in mine)])
                height = meshes["height"]
                assert height.shape == (12, 5)
                assert sorted(map(tuple, height.attrs["tailraceBlocks"].reshape(-1, 4))) == [
                    (3 * client, 0, 3, 5) for client in mine]
                rows = slice(6 * node, 6 * node + 6)
                np.testing.assert_array_equal(height[rows], whole(step)[rows])
                for client in mine:
                    part = whole(step)[3 * client:3 * client + 3]
                    np.testing.assert_array_equal(meshes[f"speed_c{client}"], -part)
                    np.testing.assert_array_equal(meshes[f"count_c{client}"], np.arange(4) + client)
                assert file.attrs["tailraceNode"] == node and "tailraceClient" not in file.attrs
                assert "tailraceMissingClients" not in file[f"data/{step}"].attrs


def test_joined_it_is_the_whole(nodes, run):
    assert run("join", nodes) == (0, f"{nodes}: 2 iterations joined from 4 files\n", "")
    assert names(nodes) == sorted(files_of_nodes() + [f"sim_{step:06d}.h5" for step in STEPS])
    for step in STEPS:
        with h5py.File(nodes / f"sim_{step:06d}.h5") as file:
            meshes = file[f"data/{step}/meshes"]
            assert meshes["height"].is_virtual
            np.testing.assert_array_equal(meshes["height"], whole(step))
            assert list(meshes["height"].attrs["gridSpacing"]) == [2, 1]
            np.testing.assert_array_equal(meshes["speed"], -whole(step))
            for client in range(CLIENTS):
                np.testing.assert_array_equal(meshes[f"count_c{client}"], np.arange(4) + client)
            assert "tailraceNode" not in file.attrs and file[f"data/{step}"].attrs["time"] == step


def test_joined_again_it_is_the_same(nodes, run):
    for _ in range(2):
        assert run("join", nodes)[0] == 0
    with h5py.File(nodes / "sim_000003.h5") as file:
        np.testing.assert_array_equal(file["data/3/meshes/height"], whole(3))


def test_joined_files_move_with_those_of_the_nodes(nodes, run, tmp_path):
    assert run("join", nodes)[0] == 0
    moved = nodes.rename(tmp_path / "elsewhere")
    with h5py.File(moved / "sim_000000.h5") as file:
        np.testing.assert_array_equal(file["data/0/meshes/height"], whole(0))
        np.testing.assert_array_equal(file["data/0/meshes/count_c3"], np.arange(4) + 3)


def test_openpmd_api_reads_a_nodes_and_the_joined_series(nodes, run):
    api = pytest.importorskip("openpmd_api")
    assert run("join", nodes)[0] == 0
    for pattern, rows in (("sim_n1_%06T.h5", slice(6, 12)), ("sim_%06T.h5", slice(0, 12))):
        series = api.Series(str(nodes / pattern), api.Access.read_only)
        assert list(series.iterations) == list(STEPS)
        for step in STEPS:
            meshes = series.iterations[step].meshes
            height = meshes["height"][api.Mesh_Record_Component.SCALAR].load_chunk()
            count = meshes["count_c2"][api.Mesh_Record_Component.SCALAR].load_chunk()
            series.flush()
            np.testing.assert_array_equal(height[rows], whole(step)[rows])
            np.testing.assert_array_equal(count, np.arange(4) + 2)
            assert meshes["height"].axis_labels == ["y", "x"]
        series.close()


def test_the_openpmd_validator_finds_no_error(nodes, run):
    pytest.importorskip("openpmd_validator")
    assert run("join", nodes)[0] == 0
    for name in ("sim_n0_000000.h5", "sim_n1_000003.h5", "sim_000003.h5"):
        result = subprocess.run([sys.executable, "-m", "openpmd_validator.check_h5", "-i", nodes / name],
                                capture_output=True, text=True)
        assert result.returncode == 0 and "Result: 0 Errors" in result.stdout, result.stdout


def test_what_no_file_has_is_told(nodes, run):
    (nodes / "sim_n1_000003.h5").unlink()
    code, text, message = run("join", nodes)
    assert code == 1 and "2 iterations joined from 3 files" in text
    expected = "30 of 60 elements are in no file, and read as NaN: [6:12, 0:5]"
    assert message.splitlines() == [f"tailrace: {nodes}/sim_000003.h5: {name}: {expected}"
                                    for name in ("height", "speed")]
    with h5py.File(nodes / "sim_000003.h5") as file:
        height = file["data/3/meshes/height"][...]
        np.testing.assert_array_equal(height[:6], whole(3)[:6])
        assert np.isnan(height[6:]).all()


@pytest.mark.parametrize("value", [None, -9999, 0.5])
@pytest.mark.parametrize("type_", ["int32", "float32", "complex64"])
def test_what_no_file_has_reads_as_the_fill_value(run, tmp_path, type_, value):
    if value == 0.5 and type_ == "int32":
        pytest.skip("no integer has it")
    file = tmp_path / "sim.yaml"
    file.write_text(f"""\
tailrace: 1
name: sim
place: {{kind: core, clients: 2, cpus: none, patience: 60}}
storage: {{path: {tmp_path / 'out'}, file_per: node}}
parameters: {{first: 0}}
layouts:
  slab: {{type: {type_}, shape: [2], global: [6], offset: [first]}}
variables:
  a: {{layout: slab{f", fill_value: {value}" if value is not None else ""}}}
""")
    with own_node():
        one, two = (tailrace.open(file, client, parameters={"first": 2 * client}) for client in (0, 1))
        two.close()
        one.write("a", 0, np.ones(2, dtype=type_))
        one.end_iteration(0)
        with pytest.raises(tailrace.Error, match="without client 1"):
            flush_until_told(one)
        one.close()
    nothing = value if value is not None else {"int32": 0, "float32": np.nan}.get(type_, complex(np.nan, np.nan))
    shown = "0" if nothing == 0 else "NaN" if value is None else str(value)
    code, _, message = run("join", tmp_path / "out")
    joined = tmp_path / "out/sim_000000.h5"
    assert code == 1
    assert [line for line in message.splitlines() if line.startswith("tailrace: ")] == [
        f"tailrace: {joined}: iteration 0 lacks data of client 1",
        f"tailrace: {joined}: a: 4 of 6 elements are in no file, and read as {shown}: [2:6]"]
    for path in (joined, tmp_path / "out/sim_n0_000000.h5"):
        with h5py.File(path) as opened:
            expected = np.array([1, 1, *[nothing] * 4]).astype(type_)
            np.testing.assert_array_equal(opened["data/0/meshes/a"][...], expected)
            assert list(opened["data/0"].attrs["tailraceMissingClients"]) == [1]
            if value is not None:
                assert opened["data/0/meshes/a"].fillvalue == value


def test_a_block_that_was_not_written_is_told(run, tmp_path):
    run_node(tmp_path, 0, ("count", ""), steps=[0])
    run_node(tmp_path, 1, ("", "height,speed"), steps=[0])
    code, _, message = run("join", tmp_path / "out")
    assert code == 1 and "height: 15 of 60 elements are in no file" in message
    # The last part of the whole is missing in the node's file, too, which is a complete file all the same.
    for name in ("sim_n1_000000.h5", "sim_000000.h5"):
        with h5py.File(tmp_path / "out" / name) as file:
            height = file["data/0/meshes/height"][...]
            np.testing.assert_array_equal(height[6:9], whole(0)[6:9])
            np.testing.assert_array_equal(height[9:], np.full((3, 5), 0 if name == "sim_n1_000000.h5" else np.nan))


def test_a_client_that_leaves_variables_out(tmp_path):
    run_node(tmp_path, 0, ("height,speed,count", ""))
    for step in STEPS:
        with h5py.File(tmp_path / "out" / f"sim_n0_{step:06d}.h5") as file:
            np.testing.assert_array_equal(file[f"data/{step}/meshes/height"][3:6], whole(step)[3:6])
            assert sorted(file[f"data/{step}/meshes"]) == ["count_c1", "height", "speed_c1"]


LAZY = """
import sys, numpy, tailrace
out = tailrace.open(sys.argv[1])
out.end_iteration(0)
out.write("count", 1, numpy.arange(4, dtype="i4"))
try:
    out.close()
except tailrace.Error as error:
    print(error)
"""


def test_what_nobody_ended_is_not_published(tmp_path):
    file = tmp_path / "sim.yaml"
    file.write_text(CONFIG.format(path=tmp_path / "out", clients=1))
    with own_node():  # the server ends, though nothing was published
        said = subprocess.run([sys.executable, "-c", LAZY, file], capture_output=True, text=True)
    assert "was not published: end_iteration(" in said.stdout and said.returncode == 0
    assert names(tmp_path / "out") == ["sim_n0_000001.h5.part"]


READER = """
import sys, numpy, tailrace
with tailrace.open(sys.argv[1], 1, parameters={"first": 3}) as out:
    found = numpy.empty((3, 5))
    for step in (0, 3):
        try:
            out.read("height", step, out=found)
        except tailrace.Error as error:
            print(error.code == tailrace.Status.NOT_FOUND, error)
"""


def test_a_part_that_was_not_written_is_not_found(tmp_path):
    run_node(tmp_path, 0, ("", "height"))
    file = tmp_path / "sim.yaml"
    file.write_text(CONFIG.format(path=tmp_path / "out", clients=1))
    with own_node():
        said = subprocess.run([sys.executable, "-c", READER, file], capture_output=True, text=True)
    assert said.returncode == 0 and said.stdout.count("True") == len(STEPS), said


def refused(run, out, *expected):
    """Checks that the command fails with one message that contains these words, and leaves nothing incomplete."""
    before = names(out) if out.is_dir() else []
    code, text, message = run("join", out)
    assert code == 1, text
    assert message.startswith("tailrace: ") and message.count("\n") == 1, message
    for words in expected:
        assert words in message
    if out.is_dir():
        assert not [name for name in names(out) if name.endswith(".part")]
        assert set(before) <= set(names(out))


def test_nothing_to_join(run, tmp_path):
    refused(run, tmp_path / "nowhere", "nowhere: found no directory")
    refused(run, tmp_path, "found no files of nodes or clients, expected some such as sim_n0_000000.h5 or sim_c0_")


def test_a_file_that_is_none(nodes, run):
    (nodes / "sim_n1_000000.h5").write_bytes(b"not HDF5")
    refused(run, nodes, "sim_n1_000000.h5", "expected an HDF5 file")
    assert "sim_000003.h5" in names(nodes)  # the others are joined all the same


def test_a_file_cut_short(nodes, run):
    file = nodes / "sim_n1_000003.h5"
    file.write_bytes(file.read_bytes()[:3000])
    refused(run, nodes, "sim_n1_000003.h5", "expected an HDF5 file")


def test_a_file_of_another_iteration(nodes, run):
    shutil.copy(nodes / "sim_n1_000000.h5", nodes / "sim_n1_000003.h5")
    refused(run, nodes, "sim_n1_000003.h5", "iteration 3")


def test_files_of_runs_of_other_shapes(nodes, run):
    with h5py.File(nodes / "sim_n1_000003.h5", "a") as file:
        meshes = file["data/3/meshes"]
        attributes = dict(meshes["height"].attrs)
        del meshes["height"]
        meshes.create_dataset("height", data=np.zeros((13, 5))).attrs.update(attributes)
    refused(run, nodes, "sim_n1_000003.h5", "height", "(13, 5)", "(12, 5)", "sim_n0_000003.h5")


def test_files_of_runs_of_other_types(nodes, run):
    with h5py.File(nodes / "sim_n1_000003.h5", "a") as file:
        meshes = file["data/3/meshes"]
        attributes = dict(meshes["height"].attrs)
        del meshes["height"]
        meshes.create_dataset("height", data=np.zeros((12, 5), dtype="f4")).attrs.update(attributes)
    refused(run, nodes, "sim_n1_000003.h5", "height", "float32", "float64", "sim_n0_000003.h5")


def test_the_same_part_in_two_files(nodes, run):
    with h5py.File(nodes / "sim_n1_000003.h5", "a") as file:
        file["data/3/meshes/height"].attrs["tailraceBlocks"] = np.array([3, 0, 3, 5, 9, 0, 3, 5], dtype="u8")
    refused(run, nodes, "sim_n1_000003.h5", "height", "sim_n0_000003.h5", "the same part")


def test_the_same_clients_block_in_two_files(nodes, run):
    with h5py.File(nodes / "sim_n1_000003.h5", "a") as file:
        file["data/3/meshes"].move("count_c2", "count_c0")
    refused(run, nodes, "sim_n1_000003.h5", "count_c0", "sim_n0_000003.h5")


def test_parts_outside_the_whole(nodes, run):
    with h5py.File(nodes / "sim_n1_000003.h5", "a") as file:
        file["data/3/meshes/height"].attrs["tailraceBlocks"] = np.array([10, 0, 3, 5], dtype="u8")
    refused(run, nodes, "sim_n1_000003.h5", "height", "outside")


def test_parts_that_are_not_told(nodes, run):
    with h5py.File(nodes / "sim_n1_000003.h5", "a") as file:
        del file["data/3/meshes/height"].attrs["tailraceBlocks"]
    refused(run, nodes, "sim_n1_000003.h5", "height", "tailraceBlocks")


def test_a_target_that_cannot_be_written(nodes, run):
    (nodes / "sim_000003.h5").mkdir()
    refused(run, nodes, "sim_000003.h5")
    (nodes / "sim_000003.h5").rmdir()
    (nodes / "sim_000003.h5.join.part").mkdir()
    code, _, message = run("join", nodes)
    assert code == 1 and "sim_000003.h5.join.part" in message and message.count("\n") == 1


def test_a_file_that_another_run_is_writing(nodes, run):
    """A job's client may be writing a file of the same name now (file_per: job)."""
    (nodes / "sim_000003.h5.part").write_bytes(b"of another run")
    assert run("join", nodes)[0] == 0
    assert (nodes / "sim_000003.h5").is_file()
    assert (nodes / "sim_000003.h5.part").read_bytes() == b"of another run"
