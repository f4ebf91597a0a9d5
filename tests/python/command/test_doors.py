"""`tailrace doors`: builds the doors of one MPI or OpenFOAM, from the sources in the package."""

import os
import pathlib
import pwd
import stat
import subprocess
import sys

import pytest
from tailrace import cli, doors, mpis, programs


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


def test_a_door_belongs_to_the_package_that_it_is_linked_with(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(programs, "FOLDER", tmp_path / "other/tailrace")
    assert doors.cache() != cache


def test_a_cache_is_an_absolute_path(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path / ".cache" in doors.cache().parents


@pytest.mark.parametrize(("of", "mode"), [("door", 0o757), ("folder", 0o775), ("tailrace", 0o777)])
def test_a_door_that_others_can_write_is_not_used(cache, capsys, of, mode):
    cache.mkdir(parents=True, mode=0o755)
    door = cache / "libtailrace_mpiio_mpich-4.0.so"
    door.touch(mode=0o755)
    assert doors.built_mpiio("mpich", "4.0") == doors.built_mpiio("mpich") == door
    writable = {"door": door, "folder": cache, "tailrace": cache.parents[1]}[of]
    writable.chmod(mode)
    for version in ("4.0", ""):
        with pytest.raises(doors.Failed, match=f"found '{writable}', which others can write"):
            doors.built_mpiio("mpich", version)
    assert cli.main(["doors", "list"]) == 1
    shown = capsys.readouterr()
    assert str(door) not in shown.out and "chmod go-w" in shown.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_roots_programs_load_no_door_of_another_user(cache, capsys):
    folder = cache / "openfoam"
    folder.mkdir(parents=True, mode=0o755)
    for name in ("libtailraceFoam.so", "libtailraceFoamPreload.so"):
        (folder / name).touch(mode=0o755)
    assert doors.built_openfoam() == folder
    os.chown(folder / "libtailraceFoam.so", 65534, -1)
    assert cli.main(["run", "--openfoam", "--print"]) == 2
    assert f"found '{folder / 'libtailraceFoam.so'}', which belongs to another user" in capsys.readouterr().err
    assert cli.main(["doors", "list"]) == 1


def test_a_cache_of_another_user_is_not_written(cache, capsys, monkeypatch, mpi):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    monkeypatch.setattr(doors, "_compiled", lambda *_: [])
    monkeypatch.setattr(doors, "_link", lambda _, made, *_words: pathlib.Path(made).touch())
    assert cli.main(["doors", "build", "mpiio"]) == 1
    assert f"found '{cache}', which others can write" in capsys.readouterr().err
    assert not list(cache.iterdir())


def test_other_users_cannot_write_a_door_whatever_the_umask(cache, monkeypatch, mpi):
    monkeypatch.setenv(mpis.VARIABLE, mpi.name)
    monkeypatch.setattr(doors, "_compiled", lambda *_: [])
    monkeypatch.setattr(doors, "_link", lambda _, made, *_words: pathlib.Path(made).touch())
    before = os.umask(0)
    try:
        assert cli.main(["doors", "build", "mpiio"]) == 0
    finally:
        os.umask(before)
    assert doors.built_mpiio(mpi.name, mpi.version).parent == cache


def test_without_a_home(monkeypatch, capsys):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    assert doors.built_mpiio("mpich") is doors.built_openfoam() is None
    assert cli.main(["doors", "list"]) == 0
    capsys.readouterr()


def test_a_package_in_a_folder_with_any_name(cache, monkeypatch, tmp_path, mpi):
    folder = tmp_path / "a, \"b\" 'c' $d;"
    folder.symlink_to(programs.FOLDER)
    monkeypatch.setattr(programs, "FOLDER", folder)
    monkeypatch.setattr(doors, "SOURCES", folder / "doors")
    monkeypatch.setattr(doors, "_SHARED", ("process_client/bytes",))
    monkeypatch.setattr(doors, "_MPIIO", ())
    monkeypatch.setenv(mpis.VARIABLE, mpi.name)
    assert cli.main(["doors", "build", "mpiio"]) == 0
    built = doors.built_mpiio(mpi.name, mpi.version)
    shown = subprocess.run(["readelf", "-d", built], capture_output=True, text=True, check=True).stdout
    assert f"[{folder}]" in shown


def test_a_compiler_with_words_before_it(old_compiler, tmp_path, capsys):
    (tmp_path / "libOpenFOAM.so").touch()
    words = ["doors", "build", "openfoam", "--include", str(tmp_path), "--library", str(tmp_path / "libOpenFOAM.so"),
             "--api", "2312", "--cxx"]
    assert cli.main([*words, f"env {old_compiler}"]) == 1
    assert f"found env {old_compiler} (c++ (Some System) 8.5.0), expected" in capsys.readouterr().err
    assert cli.main([*words, "no-such-compiler"]) == 1
    assert capsys.readouterr().err == (
        "tailrace: found 'no-such-compiler', which cannot be run: No such file or directory\n")


def test_a_failure_ends_the_build(tmp_path, monkeypatch, capsys):
    compiler = tmp_path / "failing-c++"
    compiler.write_text("#!/bin/sh\ncase \"$*\" in *fsyntax-only*) exit 0 ;; esac\n"
                        f"echo >>{tmp_path}/calls\nexit 1\n")
    compiler.chmod(stat.S_IRWXU)
    (tmp_path / "libOpenFOAM.so").touch()
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert cli.main(["doors", "build", "openfoam", "--include", str(tmp_path), "--library",
                     str(tmp_path / "libOpenFOAM.so"), "--api", "2312", "--cxx", str(compiler)]) == 1
    assert "ended with exit code 1" in capsys.readouterr().err
    assert len((tmp_path / "calls").read_text().splitlines()) <= 2
