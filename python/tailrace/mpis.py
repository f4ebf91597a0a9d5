"""The MPIs of this machine, each as a pair: the compiler's wrappers, and the launcher for their programs.

Only this module looks for them. If several MPIs are installed, `mpicc` and `mpiexec` may belong to two of them, or a
wrapper may lack headers. So each wrapper compiles a program that prints its MPI, each launcher prints its version,
and only matching ones are a pair. TAILRACE_MPI chooses one by its name; otherwise it is the first of NAMES that is
found.

CMake (cmake/mpi.cmake) and scripts (tools/) run this file by itself, before the package is installed:

    mpis.py            one line: which was chosen, and which others there are
    mpis.py --json     the same for CMake, the chosen one first, with what C++ programs are compiled and linked with
    mpis.py --get KEY  name, cc, cxx or launcher of the chosen one

Exit code 1: there is none. 2: the one that TAILRACE_MPI names is missing.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

NAMES = ("mpich", "openmpi")
VARIABLE = "TAILRACE_MPI"

_SECONDS = 60.0  # limit for one command
# C and C++. MPI answers this before MPI_Init, so it needs no launcher.
_PROGRAM = """\
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <stdio.h>
int main(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return puts(text) < 0;
}
"""
# Patterns for the version, in that program's output and in the launcher's.
_LIBRARY = {"mpich": r"MPICH Version:\s*(\S+)", "openmpi": r"Open MPI v([^\s,]+)"}
_LAUNCHER = {"mpich": r"HYDRA build details:\s+Version:\s*(\S+)", "openmpi": r"\S+ \((?:OpenRTE|Open MPI)\) (\S+)"}
_LAUNCHERS = {"mpich": ("mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"),
              "openmpi": ("mpiexec.openmpi", "mpirun.openmpi", "mpiexec", "mpirun")}
# Options for more processes than processors, without binding, and as root: MPICH needs none for that.
_ARGUMENTS = {"mpich": (), "openmpi": ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")}


class NoMpi(Exception):
    """Says why there is no MPI, or not the named one."""


class WrongName(NoMpi):
    """TAILRACE_MPI names one that is not here."""


@dataclasses.dataclass(frozen=True)
class Mpi:
    """Compilers and launcher of one MPI."""

    name: str  # one of NAMES
    version: str
    cc: str
    cxx: str
    launcher: str
    arguments: tuple[str, ...]  # of the launcher, before all others

    def start(self, processes: int, *command: object) -> list[str]:
        """Returns the command that runs `command` with `processes` processes."""
        return [self.launcher, *self.arguments, "-n", str(processes), *map(str, command)]

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.cc}, {self.launcher})"


@dataclasses.dataclass(frozen=True)
class Found:
    """The result of a search."""

    mpis: tuple[Mpi, ...]  # in the order of NAMES
    unfit: tuple[str, ...]  # why others cannot be used

    def chosen(self, name: str) -> Mpi:
        """Returns the MPI of this name; for "", the first. Raises NoMpi, WrongName."""
        why = "".join(f"; {reason}" for reason in self.unfit)
        if not name:
            if not self.mpis:
                raise NoMpi(why[2:] or "neither MPICH nor Open MPI is on PATH")
            return self.mpis[0]
        for mpi in self.mpis:
            if mpi.name == name:
                return mpi
        here = ", ".join(map(str, self.mpis)) or "there is none here"
        raise WrongName(f"{VARIABLE}: found {name!r}, expected one that is installed: {here}{why}")


def find(path: str | None = None) -> Found:
    """Looks for MPIs on `path`, by default PATH."""
    return _find(os.environ.get("PATH", os.defpath) if path is None else path)


def of_launcher(program: str) -> tuple[str, str] | None:
    """Returns name and version of the MPI whose launcher the program is; None if it is no launcher."""
    said = _asked(program)
    found = [(name, re.search(_LAUNCHER[name], said)) for name in NAMES if isinstance(said, str)]
    return next(((name, match[1]) for name, match in found if match), None)


def chosen() -> Mpi:
    """Returns the MPI to use: the one that TAILRACE_MPI names, else the first. Raises NoMpi."""
    return find().chosen(os.environ.get(VARIABLE, ""))


def of_user() -> Mpi:
    """Returns the MPI of the user's programs: the one that TAILRACE_MPI names, else that of the plain mpicc, else the
    first. Raises NoMpi."""
    plain = shutil.which("mpicc")
    said = _asked(plain) if plain and not os.environ.get(VARIABLE) else ""
    for mpi in find().mpis:
        if isinstance(said, str) and re.match(_LIBRARY[mpi.name], said):
            return mpi
    return chosen()


def summary() -> str:
    """Returns one line that names the chosen MPI and the others. Raises WrongName."""
    try:
        mpi = chosen()
    except WrongName:
        raise
    except NoMpi as none:
        return f"no MPI: {none}"
    others = [str(other) for other in find().mpis if other != mpi]
    return f"MPI: {mpi}" + ("; also here: " + ", ".join(others) if others else "")


@functools.cache
def _find(path: str) -> Found:
    mpis: list[Mpi] = []
    unfit: list[str] = []
    asked = functools.cache(_asked)
    for name in NAMES:
        try:
            cc, version = _first((f"mpicc.{name}", "mpicc"), path, asked, _LIBRARY[name])
            if not cc:
                continue
            cxx, _ = _first((f"mpicxx.{name}", "mpicxx", "mpic++"), path, asked, _LIBRARY[name], version)
            launcher, _ = _first(_LAUNCHERS[name], path, asked, _LAUNCHER[name], version)
        except NoMpi as error:
            unfit.append(f"{name}: {error}")
            continue
        if cxx and launcher:
            mpis.append(Mpi(name, version, cc, cxx, launcher, _ARGUMENTS[name]))
        else:
            unfit.append(f"{name}: {cc} is of version {version}, and no {'launcher' if cxx else 'C++ compiler'} is")
    plain = shutil.which("mpicc", path=path)
    if not mpis and not unfit and plain:  # a plain name may belong to any MPI
        answer = asked(plain)
        unfit.append(str(answer) if isinstance(answer, NoMpi) else f"{plain} is of neither: {answer.strip()[:80]}")
    return Found(tuple(mpis), tuple(unfit))


def _first(names: Sequence[str], path: str, asked: Callable[[str], str | NoMpi], pattern: str,
           version: str = "") -> tuple[str, str]:
    """Returns the first program whose answer matches `pattern`, and `version` if given; and the version in the
    answer. Returns two empty strings if there is none; raises NoMpi if one whose name belongs to this MPI does not
    work."""
    broken = None
    for name in names:
        program = shutil.which(name, path=path)
        if program is None:
            continue
        answer = asked(program)
        if isinstance(answer, NoMpi):
            broken = answer if "." in name else broken
            continue
        said = re.match(pattern, answer)
        if said and version in ("", said[1]):
            return program, said[1]
    if broken is not None:
        raise broken
    return "", ""


def _asked(program: str) -> str | NoMpi:
    """Returns what a launcher, or a compiled program, prints about its MPI; or why it does not run."""
    try:
        if not pathlib.Path(program).name.startswith(("mpicc", "mpicxx", "mpic++")):
            return _run([program, "--version"])
        with tempfile.TemporaryDirectory(prefix="tailrace_mpi_") as scratch:
            made = pathlib.Path(scratch, "whose")
            source = made.with_suffix(".c" if pathlib.Path(program).name.startswith("mpicc") else ".cpp")
            source.write_text(_PROGRAM)
            _run([program, str(source), "-o", str(made)])
            return _run([str(made)])
    except NoMpi as error:
        return error


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoMpi(f"{command[0]}: {error}") from None
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip(" -")]
        raise NoMpi(f"{command[0]} ended with exit code {done.returncode}: {said[0] if said else 'it said nothing'}")
    return done.stdout.lstrip()


def flags(mpi: Mpi) -> dict[str, list[str]]:
    """Returns the command of the C++ wrapper: `compiler`, and what is added to its command, sorted by how CMake uses
    it. Raises NoMpi."""
    compiler, *words = shlex.split(_run([mpi.cxx, "-show"]))
    kinds = {"includes": "-I", "libraries": ("-l", "-L", "-Wl,")}
    found = {kind: [word for word in words if word.startswith(begin)] for kind, begin in kinds.items()}
    found["options"] = [word for word in words if word not in found["includes"] + found["libraries"]]
    found["includes"] = [word[2:] for word in found["includes"]]
    found["compiler"] = [compiler]
    return found


def _as_json() -> str:
    """Returns the document for CMake, which builds C++ programs."""
    first = chosen()
    mpis = [first, *(mpi for mpi in find().mpis if mpi != first)]
    return json.dumps({"summary": summary(), "mpis": [dataclasses.asdict(mpi) | flags(mpi) for mpi in mpis]})


def main(words: Sequence[str] | None = None) -> int:
    """Runs the file as a program; returns the exit code."""
    parser = argparse.ArgumentParser(description="Shows this machine's MPIs, as pairs of compiler and launcher.",
                                     epilog=f"The environment variable {VARIABLE} chooses one: {' or '.join(NAMES)}.")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print all, the chosen one first")
    form.add_argument("--get", choices=("name", "cc", "cxx", "launcher"), help="print this of the chosen one")
    arguments = parser.parse_args(words)
    try:
        print(_as_json() if arguments.json else getattr(chosen(), arguments.get) if arguments.get else summary())
    except NoMpi as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return 2 if isinstance(error, WrongName) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
