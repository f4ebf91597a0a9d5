"""The environment into which peers are installed: three virtual environments in one directory, from the registry.

Python's peers share one; Open MPI and MPICH have one each, as both install an mpicc. The system does not change: the
directory is a temporary one that is removed at the end, or the one that --keep-env names, where the next run finds
the installations. A peer that cannot be installed is a separate error, and the others are measured nevertheless. (For
`make bench-peers` and `tailrace bench jitter`.)
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from types import TracebackType

from tailrace import mpis
from tailrace.mpis import Mpi

_SECONDS = 600.0  # limit for one command; an installation takes seconds
_INSTALL = ("install", "--quiet", "--disable-pip-version-check", "--no-input", "--only-binary=:all:", "--retries",
            "1", "--timeout", "20")
_C_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra")


class Unavailable(Exception):
    """Says why a peer is not available."""


class Environment:
    """A context manager. Its methods install what they name, once; they raise Unavailable."""

    def __init__(self, keep: pathlib.Path | None, say: Callable[[str], None]) -> None:
        self._keep = keep
        self._say = say
        self._directory = pathlib.Path()
        self._had: dict[tuple[str, str], pathlib.Path | Unavailable] = {}

    def __enter__(self) -> Environment:
        if self._keep is None:
            self._directory = pathlib.Path(tempfile.mkdtemp(prefix="tailrace_peers_"))
        else:
            self._directory = self._keep.resolve()
            self._directory.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._keep is None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def python(self, package: str) -> pathlib.Path:
        """Returns an interpreter that can import `package` and NumPy."""
        self._once("python", "numpy", lambda: self._import("numpy"))
        return self._once("python", package, lambda: self._import(package))

    def compiled(self, package: str, sources: Sequence[pathlib.Path], flags: Sequence[str] = ()) -> pathlib.Path:
        """Returns the program built from C sources with the compiler of the MPI `package`; "cc" is the system's
        compiler."""
        compiler = "cc" if package == "cc" else self.mpi(package).cc
        program = self._directory / package / "-".join([sources[0].stem, *flags])

        def make() -> pathlib.Path:
            self._say(f"compiling {sources[0].name} with {package}")
            program.parent.mkdir(exist_ok=True)
            _run([compiler, *_C_FLAGS, *flags, *map(str, sources), "-o", str(program), "-ldl"])
            return program

        return self._once(package, str(program), make)

    def mpi(self, package: str) -> Mpi:
        """Returns compiler and launcher of `package`; "system" is this machine's chosen MPI."""
        try:
            if package == "system":
                return mpis.chosen()
            return mpis.find(str(self._once(package, package, lambda: self._mpi(package)).parent)).chosen("")
        except mpis.NoMpi as error:
            raise Unavailable(str(error)) from None

    def _once(self, environment: str, what: str, make: Callable[[], pathlib.Path]) -> pathlib.Path:
        key = environment, what
        if key not in self._had:
            try:
                self._had[key] = make()
            except Unavailable as error:
                self._had[key] = error
        had = self._had[key]
        if isinstance(had, Unavailable):
            raise had
        return had

    def _import(self, package: str) -> pathlib.Path:
        python = self._made("python")
        check = [str(python), "-c", f"import {package}"]
        if subprocess.run(check, capture_output=True).returncode != 0:
            self._install(python, package)
            _run(check)
        return python

    def _mpi(self, package: str) -> pathlib.Path:
        python = self._made(package)
        mpicc = python.parent / "mpicc"
        if not mpicc.is_file():
            self._install(python, package)
        if not mpicc.is_file():
            raise Unavailable(f"the package {package} has no mpicc")
        return mpicc

    def _made(self, name: str) -> pathlib.Path:
        """Returns the interpreter of a virtual environment."""
        directory = self._directory / name
        python = directory / "bin/python"
        if not (directory / "bin/pip").is_file():
            _run([sys.executable, "-m", "venv", str(directory)])
        return python

    def _install(self, python: pathlib.Path, package: str) -> None:
        self._say(f"installing {package}")
        _run([str(python), "-m", "pip", *_INSTALL, package])


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{pathlib.Path(command[0]).name}: {error}") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        # pip summarises in its last error; compilers report the cause first.
        why = [line for line in said if line.startswith("ERROR:")][-1:] or said[:4] or ["it said nothing"]
        raise Unavailable(f"`{' '.join(pathlib.Path(word).name for word in command)}` ended with exit code "
                          f"{done.returncode}: {'; '.join(why)}")
