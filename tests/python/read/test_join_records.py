"""`tailrace join` of vectors and particles: whole records, constants, and the patches of all clients."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace

CONFIG = """\
tailrace: 1
name: p
storage: {{path: {path}}}
memory: {{budget: 1 MiB}}
parameters: {{x0: 0.0}}
attributes: {{author: nobody}}
layouts:
  list: {{type: float64, shape: [n], global: [10], offset: [first], patch: {{offset: [x0], extent: [1]}}}}
  slab: {{type: float32, shape: [2, 3], global: [4, 3], offset: [row, 0], origin: [5, 0], spacing: [2, 1]}}
  own: {{type: float64, shape: [2]}}
variables:
  T: {{layout: slab}}
  E: {{layout: slab, components: [x, y]}}
  own: {{layout: own, components: [a, b]}}
particles:
  e: {{layout: list, records: {{position: {{components: [x], unit: m}}, weighting: {{}}, charge: {{value: 2.0}}}}}}
"""


@pytest.fixture
def joined(out, run):
    for client in (1, 0):
        count = 4 + 2 * client
        parameters = {"n": count, "first": 4 * client, "row": 2 * client, "x0": float(client)}
        with tailrace.open("p.yaml", client, text=CONFIG.format(path=out), parameters=parameters) as opened:
            for number, variable in enumerate(("T", "E/x", "E/y")):
                opened.write(variable, 0, np.full((2, 3), 10 * number + client, np.float32))
            for variable in ("own/a", "own/b"):
                opened.write(variable, 0, np.full(2, float(client)))
            for variable in ("e/position/x", "e/weighting"):
                opened.write(variable, 0, np.full(count, float(client)))
            opened.end_iteration(0, time=7.0)
    for _ in range(2):  # a joined file is replaced
        assert run("join", out) == (0, f"{out}: 1 iteration joined from 2 files\n", "")
    return out / "p_000000.h5"


def test_the_arrays_are_whole(joined):
    with h5py.File(joined) as file:
        iteration = file["/data/0"]
        assert iteration.attrs["time"] == 7.0
        for number, path in enumerate(("T", "E/x", "E/y")):
            assert np.array_equal(iteration["meshes"][path][:, 0], 10 * number + np.array([0, 0, 1, 1]))
        assert list(iteration["meshes/E"].attrs["gridGlobalOffset"]) == [5, 0]
        assert list(iteration["meshes/T"].attrs["gridGlobalOffset"]) == [5, 0]
        assert list(iteration["meshes/own_c1/b"]) == [1, 1] and list(iteration["meshes/own_c0/a"]) == [0, 0]
        electrons = iteration["particles/e"]
        for path in ("position/x", "weighting"):
            assert list(electrons[path]) == 4 * [0] + 6 * [1]
        assert list(electrons["charge"].attrs["shape"]) == [10] and electrons["charge"].attrs["value"] == 2.0
        assert list(electrons["positionOffset/x"].attrs["shape"]) == [10]
        patches = electrons["particlePatches"]
        assert list(patches["numParticles"]) == [4, 6] and list(patches["numParticlesOffset"]) == [0, 4]
        assert list(patches["offset/x"]) == [0, 1] and list(patches["extent/x"]) == [1, 1]
        assert list(patches["offset"].attrs["unitDimension"]) == [1, 0, 0, 0, 0, 0, 0]


def test_the_openpmd_validator_finds_nothing(joined):
    pytest.importorskip("openpmd_validator")
    found = subprocess.run([sys.executable, "-m", "openpmd_validator.check_h5", "-i", joined], text=True,
                           capture_output=True)
    assert "0 Errors and 0 Warnings" in found.stdout, found.stdout + found.stderr


def test_species_of_which_each_client_has_its_own_are_linked(out, run):
    text = CONFIG.format(path=out).replace("shape: [n], global: [10], offset: [first]", "shape: [n]")
    for client in range(2):
        parameters = {"n": 3 + client, "row": 2 * client}
        with tailrace.open("p.yaml", client, text=text, parameters=parameters) as opened:
            opened.write("T", 0, np.zeros((2, 3), np.float32))
            opened.write("e/position/x", 0, np.full(3 + client, float(client)))
            opened.end_iteration(0)
    run("join", out)
    with h5py.File(out / "p_000000.h5") as file:
        for client in range(2):
            species = file[f"/data/0/particles/e_c{client}"]
            assert list(species["position/x"]) == (3 + client) * [client]
            assert list(species["charge"].attrs["shape"]) == [3 + client]
