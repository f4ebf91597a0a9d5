"""tailrace.open without a file: keywords, example arrays, dictionaries, and which of them exclude each other."""

import h5py
import numpy as np
import pytest
import tailrace
from tailrace import opening


def opened(tmp_path, **keywords):
    return tailrace.open(path=tmp_path / "out", budget="8 MiB", **keywords)


def test_arrays_declare_their_variables(tmp_path):
    temperature = np.arange(24.0).reshape(4, 6)
    with opened(tmp_path, name="sim", variables={"T": temperature, "n": np.arange(3, dtype="u2")}) as out:
        assert out.variable("n") == ("uint16", (3,), 6)
        out.write("T", 0, temperature)
        out.end_iteration(0)
    with h5py.File(tmp_path / "out/sim_c0_000000.h5") as file:
        np.testing.assert_array_equal(file["data/0/meshes/T"], temperature)


def test_declarations_reach_the_file(tmp_path):
    declared = tailrace.Variable("f4", ("n", 3), global_shape=(8, 3), offset=(2, 0), unit="m/s", description='a: "b"',
                                 axes=["y", "x"], spacing=[1e-5, 2], grid_unit="km", compress={"filter": "zstd"})
    with opened(tmp_path, variables={"u": declared}, parameters={"n": 4}, dt=0.5) as out:
        assert out.variable("u") == ("float32", (4, 3), 48)
        out.write("u", 2, np.ones((4, 3), "f4"))
        out.end_iteration(2)
    with h5py.File(tmp_path / "out/run_c0_000002.h5") as file:
        dataset = file["data/2/meshes/u"]
        assert list(dataset.attrs["axisLabels"]) == [b"y", b"x"]
        np.testing.assert_allclose(dataset.attrs["gridSpacing"], [1e-5, 2])


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", np.longdouble])
def test_every_type_has_its_name(tmp_path, dtype):
    with opened(tmp_path, variables={"a": np.zeros(3, dtype)}) as out:
        assert out.variable("a")[0] == np.dtype(dtype).name.replace("float128", "longdouble")


def test_a_dictionary_is_a_configuration(tmp_path):
    config = {"tailrace": 1, "name": "sim", "storage": {"path": tmp_path / "out"}, "memory": {"prefault": False},
              "layouts": {"line": {"type": "float64", "shape": [np.int64(5)], "spacing": (0.5,)}},
              "variables": {"a": {"layout": "line", "enabled": True}}}
    tailrace.check(config)
    with tailrace.open(config, budget="8 MiB", variables={"b": np.zeros(2)}) as out:
        assert out.variable("a")[1] == (5,) and out.variable("b")[1] == (2,)
    assert config["memory"] == {"prefault": False}, "the program's dictionary is left alone"


@pytest.mark.parametrize("keywords, said", [
    ({"place": "coer"}, "place.kind: found the text 'coer'"),
    ({"budget": "much"}, "memory.budget: found the text 'much'"),
    ({"variables": {"T": tailrace.Variable("M8[s]", 3)}}, "layouts.T.type: found the text 'datetime64[s]'"),
    ({"variables": {"T": tailrace.Variable("f8", 3, unit="metre")}}, "variables.T.unit"),
    ({"config": {"nme": "x"}}, "nme: found an unknown key"),
])
def test_the_library_checks_and_names_the_key(keywords, said):
    with pytest.raises(tailrace.Error) as caught:
        tailrace.open(**keywords)
    assert said in str(caught.value)


@pytest.mark.parametrize("keywords, kind, said", [
    ({}, TypeError, "found none"),
    ({"config": "sim.yaml", "name": "b", "budget": 1}, TypeError, "keywords name, budget"),
    ({"text": "tailrace: 1", "place": "core"}, TypeError, "keywords place"),
    ({"config": {"tailrace": 1}, "text": "tailrace: 1"}, TypeError, "dictionary and text"),
    ({"config": {"memory": {"budget": 1}}, "budget": 2}, TypeError, "budget: the configuration has 'memory.budget'"),
    ({"config": {"memory": 5}, "budget": 2}, TypeError, "'memory' is 5, expected a dictionary"),
    ({"variables": {"T": [1.0, 2.0]}}, TypeError, "T: expected an array or a tailrace.Variable, found list"),
    ({"variables": [np.zeros(2)]}, TypeError, "expected a dictionary from names to arrays, found list"),
    ({"variables": {"T": np.zeros(2, ">f8")}}, TypeError, "byte order"),
    ({"config": {"a: b": 1}}, ValueError, "expected a key of letters"),
    ({"config": {"log": {"level": object()}}}, TypeError, "log.level: expected a number, a text"),
    ({"client": 1, "comm": object()}, TypeError, "found client and comm"),
])
def test_what_cannot_be_a_configuration_is_refused(keywords, kind, said):
    with pytest.raises(kind) as caught:
        tailrace.open(**keywords)
    assert said in str(caught.value)


def test_texts_stay_texts():
    text = opening.text({"name": "1", "log": {"file": 'a\\b "c"\n: #'}, "list": [True, None, 1.5, float("inf")]})
    assert text == 'name: "1"\nlog:\n  file: "a\\\\b \\"c\\"\\n: #"\nlist: [true, null, 1.5, inf]\n'
