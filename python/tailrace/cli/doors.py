"""`tailrace doors`: lists the doors for unchanged programs, and builds those for this machine's MPI or OpenFOAM."""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
from typing import Any

from tailrace import doors, mpis, programs

from . import output


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "doors", help="build what carries unchanged programs, for this machine's MPI or OpenFOAM",
        description="Doors are libraries that carry the output of unchanged programs. The package has those for "
                    "HDF5, and for the binary interfaces of MPICH and of Open MPI 4. For another MPI, or if that "
                    "one fails, `doors build` compiles one from the sources in the package.")
    verbs = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    shown = verbs.add_parser("list", help="show the doors that are here",
                             description="Shows the doors that are here.")
    shown.set_defaults(run=run_list)
    built = verbs.add_parser(
        "build", help="build one",
        description="Builds a door, into the user's cache (XDG_CACHE_HOME, by default ~/.cache). `tailrace run` uses "
                    "it from then on.")
    kinds = built.add_subparsers(title="which", metavar="DOOR", required=True)
    mpi = kinds.add_parser(
        "mpiio", help="for MPI-IO, with the MPI that mpicc and mpicxx belong to",
        description="Builds the library for MPI-IO with the MPI whose mpicc, mpicxx and mpiexec are on PATH. If "
                    f"there are several, {mpis.VARIABLE} chooses one ({' or '.join(mpis.NAMES)}); by default, it is "
                    "that of `mpicc`.")
    mpi.set_defaults(run=run_mpiio)
    foam = kinds.add_parser(
        "openfoam", help="for OpenFOAM, whose environment is set",
        description="Builds OpenFOAM's file handler for the OpenFOAM whose environment is set (etc/bashrc).")
    foam.add_argument("--include", metavar="DIR", type=pathlib.Path, action="append",
                      help="a folder of OpenFOAM's headers (default: lnInclude in FOAM_SRC); may be repeated")
    foam.add_argument("--library", metavar="FILE", type=pathlib.Path,
                      help="libOpenFOAM.so (default: the one in FOAM_LIBBIN)")
    foam.add_argument("--api", metavar="NUMBER", help="OpenFOAM's version (default: what `foamVersion -api` prints)")
    foam.add_argument("--cxx", metavar="COMPILER", default=os.environ.get("CXX", "c++"),
                      help="the C++ compiler (default: CXX, or c++)")
    foam.set_defaults(run=run_openfoam)


def run_list(arguments: argparse.Namespace) -> int:
    """Runs `doors list`; returns the exit code."""
    del arguments
    places = [*sorted((programs.FOLDER / "hdf5_plugin").glob("*.so")),
              *sorted((programs.FOLDER / "mpiio").glob("*.so"))]
    complaints = []
    for file in sorted(doors.cache().glob("*.so")):
        try:
            places.append(doors.trusted(file))
        except doors.Failed as why:
            complaints.append(str(why))
    try:
        foam = doors.built_openfoam() or programs.FOLDER / "openfoam"
        places += foam.glob("libtailraceFoam.so")
    except doors.Failed as why:
        complaints.append(str(why))
    if places:
        output.print_table(("carries", "for", "file"), [(*_described(file), str(file)) for file in places])
    for complaint in dict.fromkeys(complaints):
        output.complain(complaint)
    return 1 if complaints else 0


def _described(file: pathlib.Path) -> tuple[str, str]:
    if "mpiio" not in file.name:
        return ("OpenFOAM", "this machine's") if "Foam" in file.name else ("HDF5", "1.14 and later")
    name, _, version = file.stem.removeprefix("libtailrace_mpiio_").partition("-")
    return "MPI-IO", f"{name} {version}".strip()


def run_mpiio(arguments: argparse.Namespace) -> int:
    """Runs `doors build mpiio`; returns the exit code."""
    del arguments
    try:
        mpi = mpis.of_user()
        print(f"for {mpi}")
        return _built(doors.build_mpiio(mpi, _Steps()))
    except (doors.Failed, mpis.NoMpi) as why:
        _Steps.end()
        output.complain(str(why))
        return 1


def run_openfoam(arguments: argparse.Namespace) -> int:
    """Runs `doors build openfoam`; returns the exit code."""
    try:
        includes = arguments.include or _includes()
        library = arguments.library or pathlib.Path(_variable("FOAM_LIBBIN"), "libOpenFOAM.so")
        if not library.is_file():
            raise doors.Failed(f"found no {library}, expected OpenFOAM's library; is --library right?")
        defined = (f"OPENFOAM={arguments.api or _api()}", "linux64", "WM_ARCH_OPTION=64",
                   f"WM_{os.environ.get('WM_PRECISION_OPTION', 'DP')}",
                   f"WM_LABEL_SIZE={os.environ.get('WM_LABEL_SIZE', '32')}")
        return _built(doors.build_openfoam(arguments.cxx, includes, library, defined, _Steps()))
    except doors.Failed as why:
        _Steps.end()
        output.complain(str(why))
        return 1


def _includes() -> list[pathlib.Path]:
    source = pathlib.Path(_variable("FOAM_SRC"))
    return [source / "OpenFOAM/lnInclude", source / "OSspecific/POSIX/lnInclude"]


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise doors.Failed(f"found no {name} in the environment, expected that of OpenFOAM (source its etc/bashrc), "
                           "or --include and --library")
    return value


def _api() -> str:
    try:
        said = subprocess.run(["foamVersion", "-api"], capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        said = ""
    if not said.isdigit():
        raise doors.Failed("found no version of OpenFOAM (`foamVersion -api`), expected one, or --api")
    return said


def _built(place: pathlib.Path) -> int:
    _Steps.end()
    print(f"built {place}")
    return 0


class _Steps:
    """Shows the steps: on a terminal in one line, else none of them."""

    def __call__(self, title: str) -> None:
        if sys.stdout.isatty():
            print(f"\r\x1b[K{title} ...", end="", flush=True)

    @staticmethod
    def end() -> None:
        """Removes the line."""
        if sys.stdout.isatty():
            print("\r\x1b[K", end="", flush=True)
