"""`tailrace damaris`: checks of descriptions, and configurations made of them."""

from __future__ import annotations

import pathlib
import subprocess

import h5py
import numpy as np
import pytest
import replay_runs as runs
import tailrace
from tailrace.cli import damaris

DATA = """\
    <parameter name="n" type="int" value="8"/>
    <layout name="l" type="double" dimensions="n/2,3" global="n,3" ghost="0:0"/>
    <group name="g"><variable name="t" layout="l" store="store"/></group>"""


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> str:
    """The program of the build, wherever the package is."""
    built = runs.REPOSITORY / "build" / "release" / "bindings" / "damaris" / damaris.PROGRAM
    monkeypatch.setattr("tailrace.programs.find", lambda name: str(built))
    return str(built)


def test_check(program: str, tmp_path: pathlib.Path) -> None:
    """A right description has exit code 0, and warnings; a wrong one lists what is wrong."""
    file = tmp_path / "sim.xml"
    file.write_text(runs.xml(DATA))
    done = subprocess.run([program, "check", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "ok: 1 variable in 1 layout" in done.stdout
    assert f"warning: {file}:12: <layout name='l'>: the attribute 'ghost' has no effect; did you mean 'ghosts'?" in \
        done.stderr
    file.write_text(runs.xml(DATA.replace("n/2", "m/2"), mode="Colective"))
    done = subprocess.run([program, "check", file], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 2
    assert f"{file}:12: <layout name='l'> dimensions: found the name 'm', expected an integer param" in done.stderr
    assert "found 'Colective', expected FilePerCore or Collective; did you mean 'Collective'?" in done.stderr


def test_convert(program: str, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """tailrace writes by the configuration what a program for Damaris would write."""
    file = tmp_path / "sim.xml"
    file.write_text(runs.xml(DATA, path=f"{tmp_path}/out/"))
    assert tailrace.cli.main(["damaris", "convert", str(file)]) == 0
    (tmp_path / "sim.yaml").write_text(capfd.readouterr().out)
    with tailrace.open(tmp_path / "sim.yaml", client=0, parameters={"local_size": 1, "node": 0, "nodes": 1}) as out:
        out.write("g_t", 0, runs.counting((4, 3), 0, "float64"))
        out.end_iteration(0)
    with h5py.File(tmp_path / "out" / "sim_It0_Pr0.h5") as opened:
        np.testing.assert_array_equal(opened["g/t/P0"], runs.counting((4, 3), 0, "float64"))
    assert tailrace.cli.main(["damaris", "convert", str(file), "--store", "other"]) == 1
    assert "expected --store with one of store" in capfd.readouterr().err
    assert tailrace.cli.main(["damaris"]) == 2
