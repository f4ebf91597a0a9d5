"""Programs of OpenFOAM whose files cannot be written learn of it in OpenFOAM's own way, on their own thread."""

import shutil
import subprocess

import pytest
from openfoam import cases, carried
from tailrace import cli
from tailrace.cli import run as run_command

pytestmark = pytest.mark.skipif(shutil.which("blockMesh") is None, reason="no OpenFOAM here")


def assert_told(folder, code, reason):
    """The program ended by a FatalIOError, and no time that looks whole lacks a file."""
    log = cases.log_of(folder)
    assert code != 0
    assert "FOAM FATAL IO ERROR" in log and "could not write the file" in log and reason in log, log[-3000:]
    times = [time for time in cases.times(folder) if time.name != "0"]
    names = {tuple(sorted(cases.files(time))) for time in times}
    assert len(names) <= 1 and all(not name.endswith(".partial") for each in names for name in each)


@pytest.mark.parametrize("place", ["thread", "core"])
def test_a_full_disk(small_disk, runtime_directory, place):
    folder = small_disk / "case"
    cases.prepare(cases.OBLIQUE_SHOCK, folder, endTime="0.5", writeInterval="0.01")
    code = cases.execute(cases.solve(cases.OBLIQUE_SHOCK), folder, carried.variables(place))
    assert_told(folder, code, "No space left on device")
    assert list(folder.glob("*.partial")) and len(cases.times(folder)) > 2


def test_a_full_disk_of_a_decomposed_case(small_disk, runtime_directory):
    folder = small_disk / "case"
    cases.prepare(cases.OBLIQUE_SHOCK, folder, 2, endTime="0.5", writeInterval="0.01")
    code = cases.execute(cases.solve(cases.OBLIQUE_SHOCK, 2), folder, carried.variables())
    assert code != 0 and "No space left on device" in cases.log_of(folder)


def test_a_file_system_that_is_read_only(small_disk):
    folder = small_disk / "case"
    cases.prepare(cases.OBLIQUE_SHOCK, folder)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    code = cases.execute(cases.solve(cases.OBLIQUE_SHOCK), folder, carried.variables())
    assert_told(folder, code, "Read-only file system")
    assert [time.name for time in cases.times(folder)] == ["0"]


def test_a_name_that_is_taken(tmp_path):
    """By a file, where there should be the directory of the next time."""
    folder = tmp_path / "case"
    cases.prepare(cases.OBLIQUE_SHOCK, folder)
    (folder / "0.04").write_text("taken")
    code = cases.execute(cases.solve(cases.OBLIQUE_SHOCK), folder, carried.variables())
    assert code != 0 and "FOAM FATAL" in cases.log_of(folder)
    assert (folder / "0.04").read_text() == "taken"


def test_wrong_settings(tmp_path):
    """The files are written without tailrace."""
    folder = tmp_path / "case"
    cases.prepare(cases.OBLIQUE_SHOCK, folder)
    cases.must(cases.solve(cases.OBLIQUE_SHOCK), folder, {**carried.variables(), "TAILRACE_OPENFOAM": "place=moon"})
    assert "found 'place=moon', expected config=FILE" in cases.log_of(folder)
    assert len(cases.times(folder)) == 4


def test_what_the_command_refuses(capsys, monkeypatch, tmp_path):
    assert cli.main(["run", "--openfoam", "--mpiio", "--print"]) == 2
    assert "found --mpiio beside --openfoam" in capsys.readouterr().err
    assert cli.main(["run", "--openfoam", "--close", "wait", "--print"]) == 2
    assert "found --close beside --openfoam" in capsys.readouterr().err
    monkeypatch.setattr(run_command, "OPENFOAM", tmp_path)
    assert cli.main(["run", "--openfoam", "--print"]) == 2
    assert "built without OpenFOAM" in capsys.readouterr().err


def test_other_programs_are_not_disturbed():
    """They inherit the preload from scripts and from mpiexec."""
    done = subprocess.run(["sh", "-c", "true"], capture_output=True, text=True, check=True,
                          env={**carried.variables(), "PATH": "/usr/bin:/bin", "WM_PROJECT_DIR": ""})
    assert done.stdout == done.stderr == ""
