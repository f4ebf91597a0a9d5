"""The data model in all four languages: the same values, written by C, C++, Fortran and Python, in two runs of which
the second goes on after the first; read by h5py and openPMD-api. Each program also reads its blocks back."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from conftest import REPOSITORY, own_node

CONFIG = """\
tailrace: 1
name: values
place: {{kind: {kind}}}
memory: {{budget: 4 MiB}}
storage: {{path: {path}, existing: continue, iterations_per_file: {each}}}
format: {{dimension_scales: true}}
time: {{dt: pace, unit: us}}
attributes: {{author: A. Nomura, comment: "four languages", levels: [1, 2], ratios: [0.5, 2], tags: [a, "1"]}}
iterations: {{attributes: {{scheme: leap-frog, order: 2}}}}
parameters: {{n: 4, pace: 0.25, left: 10.0, width: 2.0, x0: 0.0}}
layouts:
  line: {{type: float64, shape: [n], axes: [x], spacing: [width], origin: [left]}}
  pair: {{type: complex128, shape: [2], axes: [k], spacing: [0.5]}}
  narrow: {{type: complex64, shape: [2]}}
  flags: {{type: bool, shape: [3]}}
  half: {{type: float16, shape: [3]}}
  one: {{type: float64, shape: []}}
  deep: {{type: int32, shape: [2, 1, 1, 3, 1, 2, 1, 1]}}
  list: {{type: float64, shape: [n], patch: {{offset: [x0, 0], extent: [1, 2.5]}}}}
  ids: {{type: uint64, shape: [n]}}
variables:
  T: {{layout: line, unit: K, attributes: {{long_name: temperature}}}}
  E: {{layout: pair, components: [x, y], unit: V/m, position: {{x: [0.5]}}}}
  narrow: {{layout: narrow}}
  flags: {{layout: flags}}
  half: {{layout: half}}
  deep: {{layout: deep}}
  energy: {{layout: one, unit: J}}
particles:
  electrons:
    layout: list
    records: {{position: {{components: [x, y], unit: m}}, id: {{layout: ids}}, charge: {{value: -1.5, unit: C}}}}
"""
PARTICLES = ["position/x", "position/y", "id"]


def values(step):
    """All values of an iteration; tests/bindings/values.* have the same."""
    n, k, flags = np.arange((3 + 2 * step) % 5), np.arange(2), np.arange(3)
    return {"T": step + 0.5 * n, "E/x": (step + k) + 1j * k, "E/y": -step + 1j * (k + 1),
            "narrow": (step + 0.5 * k - 1j * k).astype(np.complex64), "flags": (step + flags) % 2 == 0,
            "half": 2.0**(step + flags).astype(np.float16), "energy": np.array(2.5 * step),
            "deep": (100 * step + np.arange(12, dtype=np.int32)).reshape(2, 1, 1, 3, 1, 2, 1, 1),
            "electrons/position/x": (step + n).astype(float), "electrons/position/y": 0.25 * n,
            "electrons/id": (1000 * step + n).astype(np.uint64) | np.uint64(1 << 63)}


def set_parameters(out, step):
    out.set_parameters(n=(3 + 2 * step) % 5, left=1.5 + step, x0=0.5 * step)


def read_back(out, step):
    set_parameters(out, step)
    for name, value in values(step).items():
        np.testing.assert_array_equal(out.read(name, step), value)


def run_python(file, first):
    with tailrace.open(file) as out:
        assert out.last_iteration() == (first - 1 if first > 0 else None)
        if first > 0:
            assert out.last_time() == (first - 1) * (0.25 if first % 2 == 0 else 1.5)
            read_back(out, first - 1)
        for step in range(first, first + 2):
            set_parameters(out, step)
            for name, value in values(step).items():
                out.write(name, step, value)
            for name, value in attributes(step).items():
                out.attribute(step, name, value)
            out.attribute(step, "wave", "a wave", variable="E/x")
            out.attribute(step, "number", step, variable="E/x")
            out.end_iteration(step, **({"time": 1.5 * step, "dt": 0.125} if step % 2 == 0 else {}))
            read_back(out, step)


def attributes(step):
    return {"note": "from the program", "tags": ["a", "bc"], "norms": [0.5, 1.5], "counts": [step, 2]}


def run(language, file, first):
    if language == "python":
        return run_python(file, first)
    program = REPOSITORY / f"build/release/tests/bindings/values_{language}"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    done = subprocess.run([program, file, str(first)], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return None


def plain(value):
    """Returns an attribute without NumPy's types and with text for bytes."""
    return [plain(one) for one in value] if isinstance(value, np.ndarray) else (
        value.decode() if isinstance(value, bytes) else value)


def check_by_h5py(file, step):
    with h5py.File(file) as opened:
        root = {name: plain(value) for name, value in opened.attrs.items()}
        assert root["author"] == "A. Nomura" and root["comment"] == "four languages"
        assert (root["levels"], root["ratios"], root["tags"]) == ([1, 2], [0.5, 2.0], ["a", "1"])
        iteration = opened[f"data/{step}"]
        found = {name: plain(value) for name, value in iteration.attrs.items()}
        expected = attributes(step) | {"scheme": "leap-frog", "order": 2, "timeUnitSI": 1e-6}
        expected |= {"time": 1.5 * step, "dt": 0.125} if step % 2 == 0 else {"time": 0.25 * step, "dt": 0.25}
        assert {name: found[name] for name in expected} == expected
        for name, value in values(step).items():
            dataset = iteration["particles" if name.startswith("electrons") else "meshes"][name]
            assert dataset.dtype == value.dtype, name
            np.testing.assert_array_equal(dataset[...], value.reshape(value.shape or (1,)), err_msg=name)
        check_grids(iteration["meshes"], step)
        electrons = iteration["particles/electrons"]
        count = (3 + 2 * step) % 5
        assert electrons["charge"].attrs["value"] == -1.5 and list(electrons["charge"].attrs["shape"]) == [count]
        patches = electrons["particlePatches"]
        assert list(patches["numParticles"]) == [count]
        assert list(patches["offset/x"]) == [0.5 * step] and list(patches["extent/y"]) == [2.5]


def check_grids(meshes, step):
    assert meshes["T"].attrs["long_name"] == b"temperature"
    assert list(meshes["T"].attrs["gridGlobalOffset"]) == [1.5 + step]
    assert meshes["E/x"].attrs["wave"] == b"a wave" and meshes["E/x"].attrs["number"] == step
    count = (3 + 2 * step) % 5
    if count > 0:
        np.testing.assert_array_equal(meshes["T"].dims[0][0][...], 1.5 + step + 2.0 * np.arange(count))
    np.testing.assert_array_equal(meshes["E/x"].dims[0][0][...], [0.25, 0.75])
    np.testing.assert_array_equal(meshes["E/y"].dims[0][0][...], [0, 0.5])


def remove_what_openpmd_api_lacks(meshes):
    """It reads no mesh of an iteration that has float16, and none that has dimension scales."""
    for name in [name for name in meshes if name == "half" or "CLASS" in meshes[name].attrs]:
        del meshes[name]
    for mesh in meshes.values():
        for dataset in mesh.values() if isinstance(mesh, h5py.Group) else [mesh]:
            dataset.attrs.pop("DIMENSION_LIST", None)


def check_by_openpmd(series, step):
    scalar = sys.modules["openpmd_api"].Record_Component.SCALAR
    iteration = series.iterations[step]
    assert iteration.time == (1.5 if step % 2 == 0 else 0.25) * step and iteration.time_unit_SI == 1e-6
    assert iteration.get_attribute("note") == "from the program" and iteration.get_attribute("tags") == ["a", "bc"]
    loaded = {}
    for name, value in values(step).items():
        if name == "half" or value.size == 0:
            continue
        parts = name.split("/")
        where = iteration.particles["electrons"] if parts[0] == "electrons" else iteration.meshes
        parts = parts[1:] if parts[0] == "electrons" else parts
        loaded[name] = where[parts[0]][parts[1] if len(parts) > 1 else scalar].load_chunk()
    series.flush()
    for name, found in loaded.items():
        expected = values(step)[name]
        assert found.dtype == (np.uint8 if name == "flags" else expected.dtype), name
        np.testing.assert_array_equal(found, expected.reshape(expected.shape or (1,)), err_msg=name)


@pytest.mark.parametrize("kind, each", [("thread", 1), ("core", "all")])
@pytest.mark.parametrize("language", ["c", "cpp", "fortran", "python"])
def test_each_language_writes_the_same(out, language, kind, each):
    openpmd = pytest.importorskip("openpmd_api")
    file = out.parent / "values.yaml"
    file.write_text(CONFIG.format(kind=kind, path=out, each=each))
    with own_node():
        for first in (0, 2):
            run(language, file, first)
    for step in range(4):
        file = out / f"values_c0_{step if each == 1 else 0:06}.h5"
        check_by_h5py(file, step)
        with h5py.File(file, "r+") as opened:
            remove_what_openpmd_api_lacks(opened[f"data/{step}/meshes"])
    series = openpmd.Series(str(out / ("values_c0_%T.h5" if each == 1 else "values_c0_000000.h5")),
                            openpmd.Access.read_only)
    for step in range(4):
        check_by_openpmd(series, step)


def test_an_older_cpp_is_named(tmp_path):
    (tmp_path / "a.cpp").write_text("#include <tailrace/tailrace.hpp>\n")
    done = subprocess.run(["c++", "-std=c++17", "-fsyntax-only", f"-I{REPOSITORY / 'include'}", tmp_path / "a.cpp"],
                          capture_output=True, text=True, check=False)
    first = next(line for line in done.stderr.splitlines() if "error" in line)
    assert done.returncode != 0 and "tailrace.hpp needs C++20: compile with -std=c++20" in first
