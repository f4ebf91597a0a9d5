"""`tailrace doors`: builds the doors of one MPI or OpenFOAM, from the sources in the package."""

import os
import pathlib
import stat
import subprocess
import sys

import pytest
from tailrace import cli, doors, mpis


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return doors.cache()


@pytest.fixture
def old_compiler(tmp_path):
    """A compiler that knows no C++20."""
    file = tmp_path / "old-c++"
    file.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'c++ (Some System) 8.5.0' && exit\n"
                    "echo \"unrecognized option '-std=c++20'\" >&2\nexit 1\n")
    file.chmod(stat.S_IRWXU)
    return file


def test_it_builds_the_door_of_an_mpi_which_run_then_uses(mpi, cache, capsys, monkeypatch):
    monkeypatch.setenv(mpis.VARIABLE, mpi.name)
    assert cli.main(["doors", "build", "mpiio"]) == 0
    out = capsys.readouterr().out
    built = cache / f"libtailrace_mpiio_{mpi.name}-{mpi.version}.so"
    assert out == f"for {mpi}\nbuilt {built}\n"
    assert doors.built_mpiio(mpi.name, mpi.version) == doors.built_mpiio(mpi.name) == built
    shown = subprocess.run(["nm", "-D", "--defined-only", built], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in shown.splitlines()]
    assert "MPI_File_open" in names and all(name.startswith(("MPI_", "PMPI_", "mpi_", "tailrace_")) for name in names)
    assert "libmpi" not in subprocess.run(["readelf", "-d", built], capture_output=True, text=True, check=True).stdout
    done = subprocess.run([sys.executable, "-m", "tailrace.cli", "run", "--mpiio", "--print", "--", mpi.launcher],
                          capture_output=True, text=True, timeout=60, check=True)
    assert f"LD_PRELOAD={built}" in done.stdout
    assert cli.main(["doors", "list"]) == 0
    assert str(built) in capsys.readouterr().out


def test_a_door_of_another_version_is_not_used(cache, mpi):
    cache.mkdir(parents=True)
    (cache / f"libtailrace_mpiio_{mpi.name}-0.1.so").touch()
    assert doors.built_mpiio(mpi.name, mpi.version) is None
    done = subprocess.run([sys.executable, "-m", "tailrace.cli", "run", "--mpiio", "--print", "--", mpi.launcher],
                          capture_output=True, text=True, timeout=60, check=True)
    assert f"mpiio/libtailrace_mpiio_{mpi.name}.so" in done.stdout


def test_an_old_compiler(old_compiler, tmp_path, capsys):
    library = tmp_path / "libOpenFOAM.so"
    library.touch()
    assert cli.main(["doors", "build", "openfoam", "--include", str(tmp_path), "--library", str(library), "--api",
                     "2312", "--cxx", str(old_compiler)]) == 1
    error = capsys.readouterr().err
    assert f"found {old_compiler} (c++ (Some System) 8.5.0), expected a compiler of C++20" in error


def test_without_an_mpi(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(mpis.VARIABLE, raising=False)
    assert cli.main(["doors", "build", "mpiio"]) == 1
    assert "neither MPICH nor Open MPI is on PATH" in capsys.readouterr().err


def test_without_openfoams_environment(monkeypatch, capsys):
    monkeypatch.delenv("FOAM_SRC", raising=False)
    assert cli.main(["doors", "build", "openfoam"]) == 1
    assert "found no FOAM_SRC in the environment, expected that of OpenFOAM" in capsys.readouterr().err


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path, capsys, mpi):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(doors, "_compiled", lambda *_: [])
    monkeypatch.setattr(doors, "_link", lambda _, made, *_words: pathlib.Path(made).touch())
    assert cli.main(["doors", "build", "mpiio"]) == 1
    assert "XDG_CACHE_HOME chooses another folder" in capsys.readouterr().err


def test_openfoam_of_this_machine(cache, capsys):
    headers = pathlib.Path(__file__).parents[3] / ".deps/openfoam-headers/include"
    found = [*pathlib.Path("/usr/lib").glob("libOpenFOAM.so"), *pathlib.Path("/usr/lib").glob("*/libOpenFOAM.so")]
    if not headers.is_dir() or not found:
        pytest.skip("there is no OpenFOAM here, or its headers are missing")
    assert cli.main(["doors", "build", "openfoam", "--include", str(headers), "--library", str(found[0]), "--api",
                     "1912"]) == 0
    assert capsys.readouterr().out == f"built {cache / 'openfoam'}\n"
    assert doors.built_openfoam() == cache / "openfoam"
    for name in ("libtailraceFoam.so", "libtailraceFoamPreload.so"):
        load = [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", cache / "openfoam" / name]
        subprocess.run(load, check=True, env={**os.environ, "WM_PROJECT_DIR": "/usr/share/openfoam"}, timeout=60)
