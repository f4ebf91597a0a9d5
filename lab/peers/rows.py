"""The rows of the comparison: the writer, its program, and the file with the lines that its user would add.

A row's program takes the options of `pattern run`. The peers' programs are in programs/; the rest is `pattern`
itself. It holds no state.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

import user_code
from tailrace_lab.bench import writers
from tailrace_lab.bench.installs import Environment

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
_USER_CODE = HERE / "user_code"


@dataclass(frozen=True)
class Row:
    """One way to write."""

    name: str  # on the command line, and of its directory
    arguments: tuple[str, ...] = ()  # for its program; for one in C, for its compiler
    package: str | None = None  # from the registry ("cc": none); None: `pattern` writes
    program: str = ""  # in programs/
    extra: bool = False  # only on request
    user_code: tuple[pathlib.Path, ...] = ()
    language: str = ""  # of the user's code

    @property
    def title(self) -> str:
        """Returns the name for tables and results: for writers of the pattern program, that of `tailrace bench`."""
        return self.name.replace("-", " ") if self.is_peer else writers.parse(self.name).title

    @property
    def is_peer(self) -> bool:
        """Returns true if its program is one of programs/."""
        return self.package is not None

    def command(self, pattern: pathlib.Path, library: pathlib.Path, environment: Environment) -> list[str]:
        """Returns the command of its program, without the options that all share; raises installs.Unavailable."""
        if self.package is None:
            return [str(pattern), "run", *self.arguments]
        source = PROGRAMS / self.program
        if source.suffix == ".c":
            sources = (source, PROGRAMS / "peer.c")
            return [str(environment.compiled(self.package, sources, self.arguments)), "--library", str(library)]
        python = environment.python(self.package)
        return [str(python), "-B", str(source), "--library", str(library), *self.arguments]

    def user_lines(self) -> int:
        """Returns the lines that its user adds to a program."""
        return user_code.count(self.user_code)


def _pattern(name: str, *code: str) -> Row:
    return Row(name, writers.parse(name).arguments, user_code=tuple(_USER_CODE / file for file in code),
               language="C" if code else "")


def _peer(name: str, package: str, program: str, *arguments: str, extra: bool = False) -> Row:
    language = "C" if program.endswith(".c") else "Python"
    return Row(name, arguments, package, program, extra, (PROGRAMS / program,), language)


ROWS = (
    _pattern("none"),
    _pattern("sync", "sync.c"),
    _pattern("sync-hdf5", "hdf5.c"),
    _pattern("posix-aio", "posix_aio.c"),
    _peer("aio-buffers", "cc", "aio_buffers.c"),
    # The best that a program can do by itself, without a library: for our information, not a peer that the issue
    # names.
    _peer("aio-direct", "cc", "aio_buffers.c", "-DTAILRACE_PEER_DIRECT", extra=True),
    _peer("h5py", "h5py", "h5py_plain.py"),
    _peer("adios2-sync", "adios2", "adios2_bp5.py", "--asynchronous", "off"),
    _peer("adios2-async", "adios2", "adios2_bp5.py", "--asynchronous", "on"),
    _peer("openmpi", "openmpi", "mpi_iwrite.c"),
    _peer("mpich", "mpich", "mpi_iwrite.c"),
    _pattern("tailrace-alloc", "tailrace_alloc.c", "tailrace.yaml"),
    _pattern("tailrace-write", "tailrace_write.c", "tailrace.yaml"),
)
NAMES = tuple(row.name for row in ROWS)
USUAL = tuple(row.name for row in ROWS if not row.extra)


def chosen(names: list[str]) -> list[Row]:
    """Returns these rows, in the table's order, and the two that all are compared with. Raises ValueError."""
    for name in names:
        if name not in NAMES:
            raise ValueError(f"found {name!r}, expected {', '.join(NAMES)}")
    return [row for row in ROWS if row.name in {*names, "none", "sync"}]
