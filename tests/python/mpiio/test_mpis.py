"""The MPIs of a machine: fake ones in a separate directory, and the installed ones."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import pytest
from tailrace import mpis

WORDS = {"mpich": ("MPICH Version:\t{}\nMPICH Release date:\tunknown", "HYDRA build details:\n    Version:     {}"),
         "openmpi": ("Open MPI v{}, package: made up", "mpiexec (OpenRTE) {}")}
SIZE = """\
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) printf("%d\\n", size);
  return MPI_Finalize();
}
"""


class Machine:
    """Programs that claim to belong to an MPI."""

    def __init__(self, directory):
        self.directory = directory

    def put(self, name, script):
        path = self.directory / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return self

    def compilers(self, kind, version, *names):
        """Programs compiled by them print the version of the MPI."""
        for name in names:
            self.put(name, 'while [ "$1" != -o ]; do shift; done\n'
                           f"printf '%s\\n' '#!/bin/sh' \"echo '{WORDS[kind][0].format(version)}'\" > \"$2\"\n"
                           'chmod +x "$2"\n')
        return self

    def launcher(self, kind, version, *names):
        for name in names:
            self.put(name, f"echo '{WORDS[kind][1].format(version)}'\n")
        return self

    def found(self):
        return mpis.find(str(self.directory))

    def file(self, name):
        return str(self.directory / name)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Machine(tmp_path)


def both(machine, plain_compiler, plain_launcher):
    """As in Debian, whose alternatives decide about the plain names."""
    for kind, version in (("mpich", "4.0.2"), ("openmpi", "4.1.4")):
        machine.compilers(kind, version, f"mpicc.{kind}", f"mpicxx.{kind}")
        machine.launcher(kind, version, f"mpiexec.{kind}")
        if kind == plain_compiler:
            machine.compilers(kind, version, "mpicc", "mpicxx")
        if kind == plain_launcher:
            machine.launcher(kind, version, "mpiexec", "mpirun")
    return machine


@pytest.mark.parametrize("compiler", mpis.NAMES)
@pytest.mark.parametrize("launcher", mpis.NAMES)
def test_pairs_by_their_own_names(machine, compiler, launcher):
    found = both(machine, compiler, launcher).found()
    assert [(mpi.name, mpi.version) for mpi in found.mpis] == [("mpich", "4.0.2"), ("openmpi", "4.1.4")]
    for mpi in found.mpis:
        assert (mpi.cc, mpi.cxx, mpi.launcher) == tuple(
            machine.file(f"{tool}.{mpi.name}") for tool in ("mpicc", "mpicxx", "mpiexec"))
    assert found.unfit == ()


@pytest.mark.parametrize("kind", mpis.NAMES)
def test_a_pair_by_the_plain_names(machine, kind):
    machine.compilers(kind, "9.8", "mpicc", "mpicxx").launcher(kind, "9.8", "mpirun")
    (mpi,) = machine.found().mpis
    assert (mpi.name, mpi.cc, mpi.launcher) == (kind, machine.file("mpicc"), machine.file("mpirun"))


def test_hydra_by_its_own_name(machine):
    """If the plain mpiexec belongs to another MPI."""
    machine.compilers("mpich", "4.0", "mpicc.mpich", "mpicxx.mpich").launcher("mpich", "4.0", "mpiexec.hydra")
    machine.launcher("openmpi", "4.1.4", "mpiexec")
    (mpi,) = machine.found().mpis
    assert mpi.launcher == machine.file("mpiexec.hydra")


def test_compiler_and_launcher_of_two_are_no_pair(machine):
    machine.compilers("mpich", "4.0.2", "mpicc", "mpicxx").launcher("openmpi", "4.1.4", "mpiexec")
    found = machine.found()
    assert found.mpis == ()
    assert found.unfit == (f"mpich: {machine.file('mpicc')} is of version 4.0.2, and no launcher is",)


def test_nor_are_two_versions(machine):
    machine.compilers("mpich", "4.2.0", "mpicc", "mpicxx").launcher("mpich", "4.0.2", "mpiexec")
    assert machine.found().mpis == ()


def test_a_wrapper_without_headers(machine):
    both(machine, "openmpi", "openmpi")
    for name in ("mpicc.openmpi", "mpicc"):
        machine.put(name, "echo 'whose.c:3:10: fatal error: mpi.h: No such file' >&2\nexit 1\n")
    found = machine.found()
    assert [mpi.name for mpi in found.mpis] == ["mpich"]
    (why,) = found.unfit
    assert why.startswith(f"openmpi: {machine.file('mpicc.openmpi')} ended with exit code 1: ") and "mpi.h" in why
    with pytest.raises(mpis.WrongName, match="found 'openmpi', expected one that is installed: mpich 4.0.2 .*mpi.h"):
        found.chosen("openmpi")


def test_the_variable_chooses(machine, monkeypatch):
    both(machine, "openmpi", "openmpi")
    for name, expected in (("", "mpich"), ("mpich", "mpich"), ("openmpi", "openmpi")):
        monkeypatch.setenv("TAILRACE_MPI", name)
        assert mpis.chosen().name == expected
        said = mpis.summary()
        assert said.startswith(f"MPI: {expected} ") and said.count("; also here: ") == 1
    monkeypatch.setenv("TAILRACE_MPI", "lam")
    with pytest.raises(mpis.WrongName, match="TAILRACE_MPI: found 'lam', expected one that is installed: mpich 4"):
        mpis.chosen()


@pytest.mark.parametrize("plain", ["mpich", "openmpi"])
def test_users_programs_have_the_mpi_of_the_plain_compiler(machine, monkeypatch, plain):
    both(machine, plain, plain)
    monkeypatch.delenv("TAILRACE_MPI", raising=False)
    assert mpis.of_user().name == plain
    other = {"mpich": "openmpi", "openmpi": "mpich"}[plain]
    monkeypatch.setenv("TAILRACE_MPI", other)
    assert mpis.of_user().name == other


def test_a_compiler_of_neither(machine):
    machine.put("mpicc", "echo 'whose.c:3:10: fatal error: mpi.h: No such file' >&2\nexit 1\n")
    with pytest.raises(mpis.NoMpi, match="mpicc ended with exit code 1: .*mpi.h"):
        machine.found().chosen("")


def test_a_compiler_of_another_mpi(machine):
    machine.put("mpicc", 'while [ "$1" != -o ]; do shift; done\n'
                         "printf '%s\\n' '#!/bin/sh' 'echo Other MPI 1.0' > \"$2\"\nchmod +x \"$2\"\n")
    with pytest.raises(mpis.NoMpi, match="mpicc is of neither: Other MPI 1.0"):
        machine.found().chosen("")


def test_none(machine, monkeypatch):
    monkeypatch.delenv("TAILRACE_MPI", raising=False)
    monkeypatch.setenv("PATH", str(machine.directory))
    assert mpis.summary() == "no MPI: neither MPICH nor Open MPI is on PATH"
    with pytest.raises(mpis.NoMpi):
        mpis.chosen()


def test_open_mpi_is_told_what_containers_need():
    mpi = mpis.Mpi("openmpi", "4.1.4", "cc", "cxx", "mpiexec", ("--oversubscribe",))
    assert mpi.start(3, pathlib.Path("program"), 5) == ["mpiexec", "--oversubscribe", "-n", "3", "program", "5"]


def call(*words, **environment):
    return subprocess.run([sys.executable, "-B", mpis.__file__, *words], capture_output=True, text=True,
                          env={**os.environ, "TAILRACE_MPI": "", **environment})


def test_as_a_program(mpi):
    """As CMake and scripts call it."""
    others = [other for other in mpis.find().mpis if other != mpi]
    done = call("--json", TAILRACE_MPI=mpi.name)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["name"] for one in found["mpis"]] == [mpi.name, *(other.name for other in others)]
    first = found["mpis"][0]
    assert dataclasses.asdict(mpi).items() <= (first | {"arguments": tuple(first["arguments"])}).items()
    assert any(pathlib.Path(folder, "mpi.h").exists() for folder in first["includes"]) and first["libraries"]
    assert call("--get", "cc", TAILRACE_MPI=mpi.name).stdout == mpi.cc + "\n"
    assert call(TAILRACE_MPI=mpi.name).stdout == found["summary"] + "\n"


def test_as_a_program_it_refuses(tmp_path):
    done = call("--json", TAILRACE_MPI="lam")
    assert (done.returncode, done.stdout) == (2, "") and "found 'lam'" in done.stderr
    done = call("--json", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "") and "is on PATH" in done.stderr
    assert call(PATH=str(tmp_path)).returncode == 0, "to have none is no error"


def test_the_launcher_starts_what_the_compiler_makes(mpi, tmp_path):
    """Each MPI of this machine works as a pair: otherwise each process would be alone."""
    source, program = tmp_path / "size.c", tmp_path / "size"
    source.write_text(SIZE)
    subprocess.run([mpi.cc, source, "-o", program], check=True)
    done = subprocess.run(mpi.start(3, program), capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.split() == ["3"], done.stderr
