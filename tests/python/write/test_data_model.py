"""The data model beyond plain arrays: times, real parameters, attributes, vectors and particles. Written in both
places, read by h5py, openPMD-api and the openPMD validator."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from conftest import REPOSITORY, own_node

CONFIG = """\
tailrace: 1
name: model
place: {{kind: {kind}}}
memory: {{budget: 4 MiB}}
storage: {{path: {path}}}
time: {{dt: step, unit: us}}
attributes: {{author: A. Nomura, comment: "a test", software: tsunami, softwareVersion: "3", levels: [1, 2, 3],
  ratios: [0.5, 2], tags: [a, "1"]}}
iterations: {{attributes: {{scheme: leap-frog, order: 2}}}}
parameters: {{n: 5, step: 0.25, left: 10.0, width: 2, x0: 0.0, y0: 1.5}}
layouts:
  line: {{type: float64, shape: [n], spacing: [width], origin: [left]}}
  plane: {{type: float32, shape: [3, 4]}}
  list: {{type: float64, shape: [n], patch: {{offset: [x0, y0], extent: [1, 2.5]}}}}
  ids: {{type: uint64, shape: [n]}}
  one: {{type: complex128, shape: []}}
variables:
  T: {{layout: line, unit: K, attributes: {{long_name: temperature}}}}
  E: {{layout: plane, components: [x, y, z], unit: V/m, position: {{x: [0.5, 0], y: [0, 0.5]}}}}
  energy: {{layout: one, unit: J}}
particles:
  electrons:
    layout: list
    records:
      position: {{components: [x, y], unit: m}}
      momentum: {{components: [x, y], unit: kg*m/s, weighting_power: 1}}
      weighting: {{macro_weighted: true, weighting_power: 1}}
      id: {{layout: ids}}
      charge: {{value: -1.602e-19, unit: C, weighting_power: 1}}
      mass: {{value: 9.109e-31, unit: kg, weighting_power: 1}}
"""

places = pytest.mark.parametrize("kind", ["thread", "core"])


def config(kind, out):
    return CONFIG.format(kind=kind, path=out)


def plane(component, step):
    return np.full((3, 4), 10 * step + "xyz".index(component), dtype=np.float32)


def particles(record, count, step):
    generator = np.random.default_rng([step, *record.encode()])
    values = generator.random(count)
    return (values * 1e6).astype(np.uint64) if record == "id" else values


RECORDS = ["position/x", "position/y", "momentum/x", "momentum/y", "weighting", "id"]


def write(out, kind, counts=(5, 7, 0, 7)):
    """Iterations whose times, counts of particles and grids differ."""
    with own_node(), tailrace.open("model.yaml", text=config(kind, out)) as client:
        for step, count in enumerate(counts):
            client.set_parameters(n=count, left=10.0 + step, x0=0.5 * step)
            client.write("T", step, np.arange(count, dtype=float))
            for component in "xyz":
                client.write(f"E/{component}", step, plane(component, step))
            client.write("energy", step, np.array(1 + 2j * step))
            for record in RECORDS:
                client.write(f"electrons/{record}", step, particles(record, count, step))
            client.attribute(step, "residual", 0.5**step)
            client.attribute(step, "note", "wavy — 波", variable="T")
            client.attribute(step, "limits", [step, step + 1], variable="T")
            client.attribute(step, "limits", [step, step + 2], variable="T")
            client.attribute(step, "phases", ["a", "bc"])
            client.end_iteration(step, time=1.5 * step * step, dt=0.1 + step)
        client.flush()
        for step, count in enumerate(counts):
            client.set_parameters(n=count)
            assert client.read("energy", step)[()] == 1 + 2j * step
            for record in RECORDS:
                assert np.array_equal(client.read(f"electrons/{record}", step), particles(record, count, step))
    return counts


@places
def test_h5py_reads_everything(out, kind):
    for step, count in enumerate(write(out, kind)):
        with h5py.File(out / f"model_c0_{step:06}.h5") as file:
            root = file.attrs
            assert root["author"] == b"A. Nomura" and root["software"] == b"tsunami" and root["comment"] == b"a test"
            assert root["softwareDependencies"] == f"tailrace {tailrace.__version__}".encode()
            assert list(root["levels"]) == [1, 2, 3] and list(root["ratios"]) == [0.5, 2.0]
            assert list(root["tags"]) == [b"a", b"1"]
            iteration = file[f"/data/{step}"]
            assert iteration.attrs["time"] == 1.5 * step * step and iteration.attrs["dt"] == 0.1 + step
            assert iteration.attrs["timeUnitSI"] == 1e-6
            assert iteration.attrs["scheme"] == b"leap-frog" and iteration.attrs["order"] == 2
            assert iteration.attrs["residual"] == 0.5**step
            assert list(iteration.attrs["phases"]) == [b"a", b"bc"]
            temperature = iteration["meshes/T"]
            assert temperature.attrs["long_name"] == b"temperature"
            assert temperature.attrs["note"].decode() == "wavy — 波"
            assert list(temperature.attrs["limits"]) == [step, step + 2]
            assert list(temperature.attrs["gridSpacing"]) == [2.0]
            assert list(temperature.attrs["gridGlobalOffset"]) == [10.0 + step]
            energy = iteration["meshes/energy"]
            assert energy.shape == (1,) and energy[0] == 1 + 2j * step
            field = iteration["meshes/E"]
            assert list(field.attrs["unitDimension"]) == [1, 1, -3, -1, 0, 0, 0]
            assert list(field["x"].attrs["position"]) == [0.5, 0] and list(field["z"].attrs["position"]) == [0, 0]
            for component in "xyz":
                assert np.array_equal(field[component][...], plane(component, step))
            electrons = iteration["particles/electrons"]
            for record in RECORDS:
                assert np.array_equal(electrons[record][...], particles(record, count, step))
            assert electrons["charge"].attrs["value"] == -1.602e-19
            assert list(electrons["charge"].attrs["shape"]) == [count]
            assert electrons["weighting"].attrs["macroWeighted"] == 1
            patches = electrons["particlePatches"]
            assert list(patches["numParticles"]) == [count] and list(patches["numParticlesOffset"]) == [0]
            assert list(patches["offset/x"]) == [0.5 * step] and list(patches["offset/y"]) == [1.5]
            assert list(patches["extent/x"]) == [1.0] and list(patches["extent/y"]) == [2.5]
            assert list(electrons["positionOffset/y"].attrs["shape"]) == [count]


@places
def test_the_openpmd_validator_finds_nothing(out, kind):
    pytest.importorskip("openpmd_validator")
    write(out, kind, counts=(5, 7))
    for step in range(2):
        file = out / f"model_c0_{step:06}.h5"
        found = subprocess.run([sys.executable, "-m", "openpmd_validator.check_h5", "-i", file], text=True,
                               capture_output=True)
        assert "0 Errors and 0 Warnings" in found.stdout, found.stdout + found.stderr


def test_openpmd_api_reads_everything(out):
    openpmd = pytest.importorskip("openpmd_api")
    counts = write(out, "thread", counts=(5, 7, 7))
    series = openpmd.Series(str(out / "model_c0_%T.h5"), openpmd.Access.read_only)
    assert series.author == "A. Nomura" and series.comment == "a test"
    for step, count in enumerate(counts):
        iteration = series.iterations[step]
        assert iteration.time == 1.5 * step * step and iteration.dt == pytest.approx(0.1 + step)
        found = iteration.meshes["E"]["y"].load_chunk()
        electrons = iteration.particles["electrons"]
        loaded = {record: electrons[record.split("/")[0]][(record.split("/") + [openpmd.Record_Component.SCALAR])[1]]
                  .load_chunk() for record in RECORDS}
        charge = electrons["charge"][openpmd.Record_Component.SCALAR].load_chunk()
        series.flush()
        assert np.array_equal(found, plane("y", step))
        for record, values in loaded.items():
            assert np.array_equal(values, particles(record, count, step))
        assert np.array_equal(charge, np.full(count, -1.602e-19))


TYPES = ["bool", "float16", "complex64", "complex128"]


@places
@pytest.mark.parametrize("dtype", TYPES)
def test_types(out, kind, dtype):
    array = (np.random.default_rng(7).standard_normal((4, 6)) * 3 > 1 if dtype == "bool" else
             np.random.default_rng(7).standard_normal((4, 6)).astype(dtype))
    if dtype.startswith("complex"):
        array += np.array(1j, dtype=dtype) * array.real[::-1]
    text = (f"tailrace: 1\nname: types\nplace: {{kind: {kind}}}\nstorage: {{path: {out}}}\n"
            "memory: {budget: 1 MiB}\n"
            f"layouts: {{l: {{type: {dtype}, shape: [4, 6]}}, s: {{type: {dtype}, shape: []}}}}\n"
            "variables: {a: {layout: l}, z: {layout: l, compress: zstd}, s: {layout: s}}\n")
    with own_node(), tailrace.open("types.yaml", text=text) as client:
        assert client.variable("s") == (dtype, (), array.itemsize)
        for name in ("a", "z"):
            client.write(name, 0, array)
        client.write("s", 0, array[0, :1].reshape(()))
        scalar = client.alloc("s", 1)
        assert scalar.shape == ()
        scalar[...] = array[1, 1]
        client.commit("s", 1)
        with pytest.raises(tailrace.Error, match="WRONG_SHAPE|shape"):
            client.write("s", 2, array[0, :2].copy())
        for step in range(2):
            client.end_iteration(step)
        client.flush()
        for name in ("a", "z"):
            assert np.array_equal(client.read(name, 0), array) and client.read(name, 0).dtype == array.dtype
        assert client.read("s", 1)[()] == array[1, 1]
    with h5py.File(out / "types_c0_000000.h5") as file:
        found = file["/data/0/meshes/a"]
        assert found.dtype == array.dtype and np.array_equal(found[...], array)


def test_eight_dimensions(out):
    shape = (2, 1, 3, 2, 1, 2, 2, 3)
    text = (f"tailrace: 1\nname: deep\nstorage: {{path: {out}}}\nmemory: {{budget: 1 MiB}}\n"
            f"layouts: {{l: {{type: int16, shape: {list(shape)}}}}}\nvariables: {{a: {{layout: l}}}}\n")
    array = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    with tailrace.open("deep.yaml", text=text) as client:
        client.write("a", 0, array)
        client.end_iteration(0)
        assert np.array_equal(client.read("a", 0), array)
    with h5py.File(out / "deep_c0_000000.h5") as file:
        assert np.array_equal(file["/data/0/meshes/a"][...], array)


@pytest.mark.parametrize("call, expected", [
    (lambda client: client.attribute(0, "time", 3.0), "which tailrace writes"),
    (lambda client: client.attribute(0, "a/b", 3.0), "without control characters and '/'"),
    (lambda client: client.attribute(0, "tailraceX", 3.0), "which tailrace writes"),
    (lambda client: client.attribute(0, "unitSI", 3.0, variable="T"), "which tailrace writes"),
    (lambda client: client.attribute(0, "x", [], variable="T"), "0 elements|elements"),
    (lambda client: client.attribute(0, "x", "y" * 9000), "at most 8192"),
    (lambda client: client.attribute(0, "x", 3.0, variable="U"), "'U' is not declared"),
    (lambda client: client.end_iteration(0, dt=-1.0), "a dt greater than 0"),
    (lambda client: client.set_parameters(width=0.0), "an integer, as it was at open"),
    (lambda client: client.set_parameters(width=0), r"spacing\[0\]: found 0"),
    (lambda client: client.set_parameters(left=float("inf")), "a finite number"),
])
def test_refusals(out, call, expected):
    with tailrace.open("model.yaml", text=config("thread", out)) as client:
        with pytest.raises(tailrace.Error, match=expected):
            call(client)


def test_python_refuses_what_is_no_value(out):
    with tailrace.open("model.yaml", text=config("thread", out)) as client:
        for value in (None, {"a": 1}, [[1, 2], [3, 4]], 1j):
            with pytest.raises(TypeError, match="attribute 'x'"):
                client.attribute(0, "x", value)
        with pytest.raises(ValueError, match="nan"):
            client.end_iteration(0, time=float("nan"))
        with pytest.raises(OverflowError):
            client.attribute(0, "x", np.array([1, 2**63], dtype=np.uint64))


@pytest.mark.parametrize("change, expected", [
    (("author: A. Nomura", "date: today"), "the name 'date'"),
    (("[a, \"1\"]", "[a, 1]"), "a list of numbers and texts"),
    (("shape: [n], spacing", "shape: [left], spacing"), "the parameter 'left' with the value 10"),
    (("components: [x, y, z]", "components: [x, x]"), "each once"),
    (("z], unit: V/m, position: {x", "z], unit: V/m, position: {w"), "a component of this variable"),
    (("layout: ids", "layout: plane"), "a layout of one dimension"),
    (("[width]", "[widht]"), "did you mean 'width'?"),
    (("charge: {value: -1.602e-19", "charge: {value: much"), "found 'much'"),
    (("layout: one, unit: J", "layout: one, unit: J, components: []"), "a list of components"),
    (("shape: []", "shape: [], axes: [x]"), "this key with a scalar"),
])
def test_mistakes_in_the_configuration(out, change, expected):
    text = config("thread", out)
    assert change[0] in text
    with pytest.raises(tailrace.Error, match="model.yaml:.*" + expected.replace("[", r"\[").replace("?", r"\?")):
        tailrace.check("model.yaml", text=text.replace(*change))


def write_shared(clients):
    for rank, client in enumerate(clients):
        for component in "xy":
            client.write(f"a/{component}", 0, np.full(3, float(rank)))
        client.attribute(0, "seed", 7)
    clients[0].end_iteration(0, time=2.5)
    clients[0].flush()
    clients[1].end_iteration(0, time=3.5)
    clients[0].close()
    with pytest.raises(tailrace.Error, match="client 1 has set 3.5, expected 2.5, as client 0 has set it"):
        clients[1].close()


def test_clients_of_a_file_give_one_time(out):
    text = (f"tailrace: 1\nname: shared\nplace: {{kind: core, clients: 2}}\nmemory: {{budget: 1 MiB}}\n"
            f"storage: {{path: {out}, file_per: node}}\nparameters: {{left: 0.0}}\n"
            "layouts: {l: {type: float64, shape: [3], global: [6], offset: [first]}}\n"
            "variables: {a: {layout: l, components: [x, y]}}\n")
    with own_node():
        clients = [tailrace.open("shared.yaml", rank, text=text, parameters={"first": 3 * rank}) for rank in range(2)]
        write_shared(clients)
    with h5py.File(out / "shared_n0_000000.h5") as file:
        assert file["/data/0"].attrs["time"] == 2.5 and file["/data/0"].attrs["seed"] == 7
        assert np.array_equal(file["/data/0/meshes/a/y"][...], [0, 0, 0, 1, 1, 1])


def built(program):
    path = REPOSITORY / "build/release" / program
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


def test_fortran(tmp_path):
    subprocess.run([built("tests/bindings/test_fortran_binding")], cwd=tmp_path, check=True, capture_output=True)
    with h5py.File(tmp_path / "times_c0_000000.h5") as file:
        iteration = file["/data/0"]
        assert iteration.attrs["time"] == 12.5 and iteration.attrs["dt"] == 0.125
        assert iteration.attrs["scheme"] == b"leap-frog" and iteration.attrs["order"] == 2
        assert list(iteration.attrs["residuals"]) == [0.5, 0.25]
        line = iteration["meshes/line"]
        assert line.attrs["long_name"] == b"the wave" and line.attrs["factor"] == 1.5
        assert list(line.attrs["gridGlobalOffset"]) == [1.5] and list(line.attrs["gridSpacing"]) == [0.25]
        assert list(iteration["meshes/flags"]) == [True, False, True]
        assert list(iteration["meshes/E/y"]) == [2 + 4j, 6 - 8j]
        assert list(iteration["meshes/narrow"]) == [1 + 2j, 3 - 4j]
        assert iteration["meshes/deep"].shape == (2, 1, 1, 3, 1, 2) and list(iteration["meshes/energy"]) == [2.5]
        assert list(iteration["particles/ions/position/x"]) == [1, 2, 3, 4]
