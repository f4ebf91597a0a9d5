"""Programs for Damaris in C++ and Fortran, and events."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import replay_runs as runs
from tailrace import mpis


def test_a_program_that_starts_twice(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Iterations go on after a second start, in files beside those of the first."""
    data = '<layout name="l" type="float" dimensions="4"/><variable name="t" layout="l" store="store"/>'
    (tmp_path / "sim.xml").write_text(runs.xml(data))
    program = runs.PROGRAMS / f"damaris_again_{mpi.name}"
    done = subprocess.run(mpi.start(3, program, "sim.xml"), cwd=tmp_path, capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for step in range(4):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")
        assert sorted(found) == ["t/P0", "t/P1"]
        np.testing.assert_array_equal(found["t/P1"], np.full(4, step, "float32"))


def _compile(mpi: mpis.Mpi, source: str, directory: pathlib.Path) -> None:
    """Compiles a Fortran program, to its name without the end."""
    compiler = shutil.which(mpi.cc.replace("mpicc", "mpif90"))
    if compiler is None:
        pytest.skip(f"{mpi.name} has no Fortran compiler here")
    library = runs.REPOSITORY / "build" / "release" / "bindings" / "damaris" / mpi.name
    sources = [runs.REPOSITORY / "bindings" / "damaris" / "include" / "damaris.f90",
               runs.REPOSITORY / "tests" / "damaris" / source]
    subprocess.run([compiler, "-w", "-fallow-argument-mismatch", *sources, "-o", pathlib.Path(source).stem,
                    f"-L{library}", "-ldamaris", f"-Wl,-rpath,{library}"], cwd=directory, check=True)


def test_long_names_in_fortran(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Each text that a function takes, with 300 letters, the path of the description among them."""
    _compile(mpi, "long_names.f90", tmp_path)
    data = f"""\
    <parameter name="{"p" * 300}" type="int" value="3"/><layout name="l" type="double" dimensions="{"p" * 300}"/>
    <variable name="{"v" * 300}" layout="l" store="store"/>"""
    action = f'<event name="{"e" * 300}" action="one" library="{runs.PROGRAMS / "libdamaris_events.so"}"/>'
    (tmp_path / "sim.xml").write_text(runs.xml(data, actions=action))
    done = subprocess.run(mpi.start(2, tmp_path / "long_names", "./" * 150 + "sim.xml"), cwd=tmp_path,
                          capture_output=True, text=True, timeout=600, check=False,
                          env={**os.environ, "REPLAY_EVENTS": str(tmp_path / "events")})
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "events").read_text().split()[:2] == ["one", "e" * 300]
    for step in range(5):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")
        np.testing.assert_array_equal(found["v" * 300 + "/P0"], np.arange(1.0, 5))


@pytest.mark.parametrize("mode", ["FilePerCore", "Collective"])
def test_a_program_in_fortran(mpi: mpis.Mpi, tmp_path: pathlib.Path, mode: str) -> None:
    """Dimensions in Fortran's order: the files have C's."""
    _compile(mpi, "columns.f90", tmp_path)
    data = """\
    <parameter name="width" type="int" value="6"/><parameter name="clients" type="int" value="1"/>
    <layout name="l" language="fortran" type="real" dimensions="4,width/clients" global="4,width"/>
    <variable name="u" layout="l" store="store"/>
    <group name="group"><variable name="v" layout="l" store="store"/></group>"""
    (tmp_path / "sim.xml").write_text(runs.xml(data, mode=mode))
    done = subprocess.run(mpi.start(3, tmp_path / "columns", "sim.xml"), cwd=tmp_path, capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for step in range(2):
        whole = runs.counting((6, 4), 100 * step, "float32")
        if mode == "Collective":
            found = runs.contents(tmp_path / "out" / f"sim_It{step}.h5")
            np.testing.assert_array_equal(found["u"], whole)
            np.testing.assert_array_equal(found["group/v"], -whole)
            continue
        found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")
        np.testing.assert_array_equal(found["u/P1"], whole[3:])
        np.testing.assert_array_equal(found["group/v/P0"], -whole[:3])


def test_plugins_are_not_known(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """No number says which plugin it means: none is available, and that is told once."""
    data = '<layout name="l" type="float" dimensions="4"/><variable name="t" layout="l" store="store"/>'
    run = runs.replay(mpi, tmp_path, runs.xml(data, cores=0), [["plugin 0", "plugin 1", "plugin 1", "end"]], cores=0)
    assert run.codes == [[0, 0, 0, 0, runs.NO_SERVER]], run.output
    assert run.output.count("damaris_has_plugin: returns 0 (not available) for every plugin") == 1, run.output


def test_events(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Each scope runs its action as often as it has to, on the right servers, with the right arguments."""
    library = runs.PROGRAMS / "libdamaris_events.so"
    events = (
        ("core", "one", 'scope="core"'), ("group", "all_of_a_server", 'scope="group"'),
        ("bcast", "on_each_server", 'scope="bcast"'), ("global", "when_all_have", 'scope="global"'),
        ("local", "here", 'execution="local"'), ("none", "no_such_function", ""))
    actions = "".join(f'<event name="{name}" action="{action}" library="{library}" {rest}/>'
                      for name, action, rest in events)
    data = '<layout name="l" type="float" dimensions="4"/><variable name="t" layout="l" store="store"/>'
    each = ["signal group", "signal global", "end", "signal group", "signal global"]
    alone = [f"signal {name}" for name in ("core", "bcast", "local", "bound", "unknown", "none")]
    calls = [[*each, *(alone if rank == 2 else [])] for rank in range(4)]
    run = runs.replay(mpi, tmp_path, runs.xml(data, cores=2, actions=actions), calls, cores=2,
                      environment={**os.environ, "REPLAY_EVENTS": str(tmp_path / "events")})
    assert run.codes[2] == [0] * 9 + [runs.UNDEFINED_ACTION, 0, 0], run.output
    assert run.codes[:2] == [[0] * 6] * 2
    assert "the function 'no_such_function' cannot be found" in run.output
    lines = [line.split() for line in (tmp_path / "events").read_text().splitlines()]
    assert all(line[4] == "''" for line in lines)
    assert sorted([line[0], line[1], line[3]] for line in lines) == sorted(
        [["one", "core", "1"], ["here", "local", "1"], ["bound", "bound", "1"],
         *[["on_each_server", "bcast", "1"]] * 2,
         *[["all_of_a_server", "group", step] for step in "01" for _ in range(2)],
         *[["when_all_have", "global", step] for step in "01" for _ in range(2)]])
    assert {line[2] for line in lines if line[0] in ("one", "here", "bound", "on_each_server")} == {"2"}
