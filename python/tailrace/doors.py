"""The doors that belong to one MPI or one OpenFOAM: libraries that are preloaded into unchanged programs.

The package contains doors for the binary interfaces of MPICH and of Open MPI, and the sources of all of them. A door
that `build` compiles for an MPI or an OpenFOAM of this machine lies in the user's cache (XDG_CACHE_HOME, by default
~/.cache) and is used before one of the package. It belongs to the package that has built it, with whose library it is
linked, and no other user may be able to write it: programs load it.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import itertools
import os
import pathlib
import platform
import re
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

import tailrace

from . import mpis, programs

SOURCES = programs.FOLDER / "doors"  #: bindings, collective: as in the source tree
_OPTIONS = ("-O3", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-pthread")
_SHARED = ("collective", "collective/buffer", "collective/read", "collective/tune", "collective/write",
           "process_client",
           "process_client/bytes")
_MPIIO = ("mpiio/types", "mpiio/buffer", "mpiio/calls", "mpiio/collective", "mpiio/files", "mpiio/mpi",
          "mpiio/pending", "mpiio/process", "mpiio/transfer")
_MODE = 0o755  # whatever the umask: nobody else may write
_EXPECTED = "expected a compiler of C++20: GCC 10, Clang 14 or later"


class Failed(Exception):
    """A door cannot be built or used: a complete message."""


class _NoCompiler(Failed):
    """There is no such program."""


@dataclasses.dataclass(frozen=True)
class Compiler:
    """A C++ compiler with its options."""

    command: tuple[str, ...]  # such as ("ccache", "g++")
    options: tuple[str, ...] = ()

    def run(self, *words: object) -> None:
        """Runs it. Raises Failed, with what it prints."""
        command = [*self.command, *map(str, words)]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                                  check=False)
        except OSError as why:
            raise _NoCompiler(f"found '{self.command[0]}', which cannot be run: {why.strerror}") from None
        if done.returncode != 0:
            raise Failed(f"{shlex.join(command)}\nended with exit code {done.returncode}:\n{done.stderr.strip()}")


def cache() -> pathlib.Path:
    """Returns the folder of the doors that this package has built: another one may be of another tailrace, or of a
    machine that shares the home directory."""
    where = hashlib.sha256(os.fsencode(programs.FOLDER.resolve())).hexdigest()[:12]
    return _base() / "tailrace" / "doors" / f"{tailrace.__version__}-{platform.machine()}-{where}"


def _base() -> pathlib.Path:
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME", ""))
    if base.is_absolute():  # others are ignored, as the specification of XDG says
        return base
    return pathlib.Path("/", os.path.expanduser("~"), ".cache")  # of an unknown user /~/.cache, which is not there


def trusted(file: pathlib.Path) -> pathlib.Path:
    """Returns a file in the cache. Raises Failed if another user but root can write it, or replace it."""
    for path in (file, *itertools.takewhile(lambda folder: folder != _base(), file.parents)):
        found = path.stat()
        if found.st_uid not in (0, os.geteuid()):
            raise Failed(f"found '{path}', which belongs to another user, who could run programs as you with it; "
                         "XDG_CACHE_HOME chooses another folder")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Failed(f"found '{path}', which others can write, who could run programs as you with it; chmod go-w "
                         "prevents that")
    return file


def built_mpiio(name: str, version: str = "") -> pathlib.Path | None:
    """Returns the library for MPI-IO that was built for this version of an MPI; without a version, the one that was
    built if it is the only one. None if there is none. Raises Failed."""
    if version:
        place = _place_of(name, version)
        return trusted(place) if place.is_file() else None
    built = list(cache().glob(f"libtailrace_mpiio_{name}-*.so"))
    return trusted(built[0]) if len(built) == 1 else None


def built_openfoam() -> pathlib.Path | None:
    """Returns the folder of OpenFOAM's file handler, if it was built. Raises Failed."""
    folder = cache() / "openfoam"
    if not (folder / "libtailraceFoamPreload.so").is_file():
        return None
    for file in folder.glob("*.so"):
        trusted(file)
    return folder


def build_mpiio(mpi: mpis.Mpi, step: Callable[[str], None]) -> pathlib.Path:
    """Builds the library for MPI-IO with the C++ compiler of an MPI, without linking that MPI. Calls `step` with the
    title of each step. Raises Failed."""
    flags = mpis.flags(mpi)
    behind = tuple(itertools.takewhile(lambda word: not word.startswith("-"), flags["options"]))  # g++ of ccache g++
    compiler = Compiler((*flags["compiler"], *behind),
                        (*flags["options"][len(behind):], *(f"-I{path}" for path in flags["includes"])))
    _check(compiler)
    with tempfile.TemporaryDirectory(prefix="tailrace-doors-") as scratch:
        work = pathlib.Path(scratch)
        calls = work / "calls.cpp"
        step("reading the functions of its mpi.h")
        table = SOURCES / "bindings/mpiio/calls"
        Compiler((sys.executable,)).run("-B", table / "define_calls.py", table / "mpi_calls.def", calls, mpi.cc)
        objects = _compiled(compiler, (*_SHARED, *_MPIIO), [calls], work, step)
        step("linking")
        made = work / "door.so"
        _link(compiler, made, "-Wl,-z,nodelete", "-Xlinker",
              f"--version-script={SOURCES / 'bindings/mpiio/exports.map'}", *objects)
        return _installed(made, _place_of(mpi.name, mpi.version))


def build_openfoam(compiler: str, includes: Sequence[pathlib.Path], library: pathlib.Path, defined: Sequence[str],
                   step: Callable[[str], None]) -> pathlib.Path:
    """Builds OpenFOAM's file handler against the headers in `includes` and libOpenFOAM.so. Returns its folder. Raises
    Failed."""
    command = tuple(shlex.split(compiler))
    plain = Compiler(command, ("-U_FORTIFY_SOURCE", "-U_FILE_OFFSET_BITS"))
    _check(plain)
    foam = Compiler(command, (*(f"-D{name}" for name in defined), "-DNoRepository",
                              *(f"-isystem{path}" for path in includes)))
    sources = SOURCES / "bindings/openfoam/handler"
    with tempfile.TemporaryDirectory(prefix="tailrace-doors-") as scratch:
        work = pathlib.Path(scratch)
        of_headers = [sources / name for name in ("file_handler.cpp", "object_stream.cpp", "whole_lists.cpp")]
        objects = _compiled(foam, ("process_client", "process_client/bytes", "openfoam/output"),
                            [file for file in sorted(sources.glob("*.cpp")) if file not in of_headers], work, step)
        # OpenFOAM's headers are C++11, and are refused as C++20.
        objects += _compiled(foam, (), of_headers, work, step, "-std=c++17")
        step("linking")
        _link(foam, work / "libtailraceFoam.so", "-Wl,-z,nodelete", *objects, library, "-lz")
        preload = _compiled(plain, ("openfoam/preload",), [], work, step)
        _link(plain, work / "libtailraceFoamPreload.so", *preload)
        for name in ("libtailraceFoam.so", "libtailraceFoamPreload.so"):
            made = _installed(work / name, cache() / "openfoam" / name)
        return made.parent


def _place_of(name: str, version: str) -> pathlib.Path:
    return cache() / f"libtailrace_mpiio_{name}-{re.sub(r'[^A-Za-z0-9._]', '_', version)}.so"


def _check(compiler: Compiler) -> None:
    """Raises Failed if the compiler does not know C++20 well enough."""
    with tempfile.TemporaryDirectory(prefix="tailrace-doors-") as folder:
        source = pathlib.Path(folder, "check.cpp")
        source.write_text("#include <bit>\n#include <ranges>\n#include <span>\n#include <thread>\n"
                          "int main() { std::jthread([] {}); return std::span<int>().size() != 0; }\n")
        try:
            compiler.run("-std=c++20", "-fsyntax-only", source)
        except _NoCompiler:
            raise
        except Failed:
            version = subprocess.run([*compiler.command, "--version"], capture_output=True, text=True, check=False)
            first = (version.stdout or version.stderr).splitlines()[:1]
            name = shlex.join(compiler.command)
            raise Failed(f"found {name} ({''.join(first)}), {_EXPECTED}; another one is chosen by MPICH_CXX, "
                         "OMPI_CXX or --cxx") from None


def _compiled(compiler: Compiler, folders: Sequence[str], files: Sequence[pathlib.Path], work: pathlib.Path,
              step: Callable[[str], None], standard: str = "-std=c++20") -> list[pathlib.Path]:
    """Compiles the sources of each folder as one, and the files. Returns the objects, in `work`."""
    sources = list(files)
    for folder in folders:
        joined = work / f"{folder.replace('/', '_')}.cpp"
        within = SOURCES / ("" if folder.startswith("collective") else "bindings") / folder
        # By its name in SOURCES: that of the package's folder may have characters that end an #include.
        joined.write_text("".join(f'#include "{file.relative_to(SOURCES)}"\n'
                                  for file in sorted(within.glob("*.cpp"))))
        sources.append(joined)
    options = (*_OPTIONS, standard, *compiler.options, f"-I{SOURCES}", f"-I{SOURCES / 'bindings'}",
               f"-I{programs.FOLDER / 'include'}")

    def compile_one(source: pathlib.Path) -> pathlib.Path:
        made = work / f"{source.stem}.o"
        compiler.run(*options, "-c", source, "-o", made)
        return made

    crew = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count())
    try:
        begun = [crew.submit(compile_one, source) for source in sources]
        for number, one in enumerate(concurrent.futures.as_completed(begun), 1):
            one.result()
            step(f"compiling {number} of {len(begun)}")
        return [one.result() for one in begun]
    finally:
        crew.shutdown(cancel_futures=True)  # after a failure, or an interrupt


def _link(compiler: Compiler, made: pathlib.Path, *words: object) -> None:
    """Links a library to libtailrace where the package is. The C++ library goes into it where there is an archive of
    that: the program may bring an older one."""
    # -Xlinker, as -Wl ends at a comma, which the folder may have.
    command = ("-shared", "-pthread", *words, programs.FOLDER / "libtailrace.so.0", "-Xlinker", "-rpath", "-Xlinker",
               programs.FOLDER, "-ldl", "-o", made)
    try:
        compiler.run("-static-libstdc++", "-Wl,--exclude-libs,ALL", *command)
    except Failed:
        compiler.run(*command)


def _installed(made: pathlib.Path, place: pathlib.Path) -> pathlib.Path:
    """Moves a library to its place, whole or not at all."""
    folders = itertools.takewhile(lambda folder: folder != _base(), place.parents)
    try:
        _base().mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
        for folder in reversed(list(folders)):
            folder.mkdir(mode=_MODE, exist_ok=True)
        trusted(place.parent)
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", delete=False) as beside:
            beside.write(made.read_bytes())
        os.chmod(beside.name, _MODE)
        os.replace(beside.name, place)
    except OSError as why:
        raise Failed(f"create '{place}': {why.strerror}; XDG_CACHE_HOME chooses another folder") from None
    return place
