"""`tailrace run`: runs an unchanged program that writes HDF5, by MPI-IO, or OpenFOAM's files, carried by tailrace.

It sets the two environment variables by which HDF5 (1.14 and later) finds the connector, and becomes the program. It
checks them first, since HDF5 reacts to a wrong path or configuration by crashing some programs. With --mpiio or
--openfoam it preloads the library for that instead.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import tailrace

from .. import doors, programs, quantity
from . import output

SMALLEST_BUDGET = 1 << 20
_COLLECTIVES = ("auto", "tune", "individual", "two_phase", "dynamic", "static")  # docs/mpiio.md
# Of each MPI, as programs are linked with it: Debian's MPICH, others with its binary interface, and Open MPI.
_LIBRARIES = {"mpich": r"\blibmpich\.so|\blibmpi(_\w+)?\.so\.12\b", "openmpi": r"\blibmpi\.so\.40\b"}
PLUGINS = pathlib.Path(tailrace.__file__).parent / "hdf5_plugin"
NAMES = pathlib.Path(tailrace.__file__).parent / "hdf5_names" / "libtailrace_hdf5_names.so"
PRELOADED = pathlib.Path(tailrace.__file__).parent / "mpiio"
OPENFOAM = pathlib.Path(tailrace.__file__).parent / "openfoam"
OPENFOAM_FOLDER = pathlib.Path("/usr/share/openfoam")  # where Debian's packages have etc/controlDict
# Where HDF5 looks if HDF5_PLUGIN_PATH is not set: in h5py's wheel in both, by default in the second.
DEFAULT_PLUGINS = (pathlib.Path("/usr/local/lib/plugin"), pathlib.Path("/usr/local/hdf5/lib/plugin"))


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "run", help="run an unchanged HDF5, MPI-IO or OpenFOAM program, with tailrace carrying its data",
        description="Runs PROGRAM, with tailrace carrying its HDF5 data: C, Fortran and C++ programs with HDF5 1.14 "
                    "or later, h5py, netCDF4, PyTables. To do so without this command, set HDF5_PLUGIN_PATH and "
                    "HDF5_VOL_CONNECTOR to the values that --print shows. With --mpiio, it carries writes by MPI-IO; "
                    "with --openfoam, the files of an OpenFOAM program. PROGRAM may be mpiexec.",
        usage="tailrace run [--mpiio | --openfoam] [--config FILE | [--place PLACE] [--budget SIZE] "
              "[--cpus LIST] [--forward HOST:PORT --key FILE]] [--collective NAME] [--profile FILE] "
              "[--aggregators N] [--relaxed] [--prefetch SIZE] [--close WHEN] [--summary] [--trace FILE] [--print] "
              "-- PROGRAM [ARGUMENT ...]")
    parser.add_argument("--mpiio", action="store_true", help="carry writes by MPI-IO, not HDF5")
    parser.add_argument("--openfoam", action="store_true",
                        help="carry the files of an OpenFOAM program, with the file handler `tailrace`")
    parser.add_argument("--config", metavar="FILE", type=pathlib.Path,
                        help="a tailrace configuration file; its variables are ignored")
    parser.add_argument("--place", choices=("thread", "core"), help="where the writer runs (default: thread)")
    parser.add_argument("--budget", metavar="SIZE", help="memory of each process for data on their way "
                                                          "(default: 256MiB)")
    parser.add_argument("--cpus", metavar="LIST", help="pin the writer to one of these cpus, such as 14,15 (default: "
                                                       "tailrace chooses)")
    parser.add_argument("--forward", metavar="HOST:PORT", action="append",
                        help="hand the data to this forwarder (tailrace serve forward); may be repeated")
    parser.add_argument("--key", metavar="FILE", type=pathlib.Path,
                        help="the key file of the forwarders (tailrace key new)")
    parser.add_argument("--collective", choices=_COLLECTIVES,
                        help="with --mpiio: which process writes which part of a file in a collective write; tune: "
                             "the first writes find out what is fastest")
    parser.add_argument("--profile", metavar="FILE", type=pathlib.Path,
                        help="with --collective tune: keeps what was found, for the next run (default: "
                             "tailrace/mpiio-profile in $XDG_CACHE_HOME or ~/.cache)")
    parser.add_argument("--aggregators", metavar="N", type=int,
                        help="with --mpiio: how many processes write for all (default: one on each node)")
    parser.add_argument("--relaxed", action="store_true",
                        help="with --mpiio: other processes see writes only after a sync or the close, as MPI-IO "
                             "promises, not after each message")
    parser.add_argument("--prefetch", metavar="SIZE", help="prefetch at most SIZE for sequential readers, into the "
                                                            "page cache (default: nothing)")
    parser.add_argument("--close", choices=("wait", "detach"),
                        help="wait: closing a new file waits until it is written (default); detach: it does not, and "
                             "HDF5 cannot open the file until it is written")
    parser.add_argument("--summary", action="store_true", help="report at the end what was carried")
    parser.add_argument("--trace", metavar="FILE", type=pathlib.Path,
                        help="with --openfoam: write a trace, for `tailrace report` and `predict --pst`")
    parser.add_argument("--print", action="store_true", help="show the environment variables, and run nothing")
    parser.add_argument("program", nargs="*", metavar="PROGRAM [ARGUMENT ...]")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; does not return if the program was started."""
    try:
        if not arguments.program and not arguments.print:
            raise ValueError("found no program, expected one (see tailrace run --help)")
        of_mpiio = (arguments.collective, arguments.profile, arguments.aggregators, arguments.relaxed or None)
        if not arguments.mpiio and any(each is not None for each in of_mpiio):
            raise ValueError("found --collective, --profile, --aggregators or --relaxed without --mpiio, which they "
                             "need")
        if arguments.trace and not arguments.openfoam:
            raise ValueError("found --trace without --openfoam, which it needs")
        if arguments.mpiio and arguments.openfoam:
            raise ValueError("found --mpiio beside --openfoam, expected one of them")
        if arguments.mpiio:
            added = _mpiio_variables(arguments)
        elif arguments.openfoam:
            _refuse_hdf5_options(arguments, "--openfoam")
            added = openfoam_variables(arguments.config, arguments.place, arguments.budget, os.environ,
                                       arguments.summary, arguments.forward, arguments.key, arguments.trace,
                                       arguments.cpus)
        else:
            added = variables(arguments.config, arguments.place, arguments.budget, os.environ, arguments.summary,
                              arguments.prefetch, arguments.close, arguments.forward, arguments.key,
                              arguments.cpus)
    except tailrace.Error:
        raise  # some are ValueErrors, too
    except (ValueError, doors.Failed) as why:
        output.complain(str(why))
        return 2
    if arguments.print:
        for name, value in added.items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    program = shutil.which(arguments.program[0])
    if program is None:
        output.complain(f"found no program '{arguments.program[0]}' that can be run")
        return 2
    try:
        _become(program, arguments.program, added)
    except OSError as why:
        output.complain(f"found '{program}', which cannot be run: {why.strerror}")
        return 2


def _become(program: str, arguments: Sequence[str], added: Mapping[str, str]) -> NoReturn:
    """Becomes the program, which finds what it would without this one, and the variables that are added."""
    environment = {**os.environ, **added}
    # Python sets it where no locale is set.
    if "LC_CTYPE" not in added and not _was_set("LC_CTYPE"):
        environment.pop("LC_CTYPE", None)
    # Python ignores these signals, and does not tell whether they were ignored before.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    os.execve(program, arguments, environment)


def _was_set(name: str) -> bool:
    """Returns False if the variable was not there when this program was started."""
    try:
        given = pathlib.Path("/proc/self/environ").read_bytes()
    except OSError:
        return True
    return any(entry.startswith(os.fsencode(name) + b"=") for entry in given.split(b"\0"))


def variables(config: pathlib.Path | None, place: str | None, budget: str | None,
              environment: Mapping[str, str], summary: bool = False, prefetch: str | None = None,
              close: str | None = None, forward: Sequence[str] | None = None,
              key: pathlib.Path | None = None, cpus: str | None = None) -> dict[str, str]:
    """Returns the variables to set. Raises ValueError with what is wrong, and tailrace.Error for a wrong
    configuration."""
    _check_plugin()
    _check_environment(environment)
    words = ["tailrace", *_common_words(config, place, budget, forward, key, cpus)]
    if prefetch:
        size = quantity.parse_size(prefetch)
        if size < 1:
            raise ValueError(f"found --prefetch {prefetch}, expected at least 1 B")
        words.append(f"prefetch={size}")
    if close:
        words.append(f"close={close}")
    if summary:
        words.append("summary")
    if ":" in str(PLUGINS):
        raise ValueError(f"found a colon in {PLUGINS}, which HDF5 would take for the end of the folder")
    paths = [str(PLUGINS)]
    if environment.get("HDF5_PLUGIN_PATH"):
        paths.append(environment["HDF5_PLUGIN_PATH"])
    else:
        paths += [str(folder) for folder in DEFAULT_PLUGINS if folder.is_dir()]
    added = {"HDF5_PLUGIN_PATH": ":".join(paths), "HDF5_VOL_CONNECTOR": " ".join(words)}
    if close == "detach":
        if not NAMES.is_file():
            raise ValueError(f"found no {NAMES}: the package is incomplete")
        added |= programs.preload(NAMES, environment)
    return added


def _common_words(config: pathlib.Path | None, place: str | None, budget: str | None,
                  forward: Sequence[str] | None, key: pathlib.Path | None, cpus: str | None) -> list[str]:
    """Returns the settings that all doors have, as words (bindings/process_client)."""
    if config is not None and (place or budget or forward or cpus):
        raise ValueError("found --config beside --place, --budget, --cpus or --forward, expected them in the "
                         "configuration")
    if cpus and not re.fullmatch(r"\d+(,\d+)*", cpus):
        raise ValueError(f"found --cpus {cpus}, expected numbers, such as 14,15")
    if bool(forward) != bool(key):
        raise ValueError("found --forward without --key FILE" if forward else
                         "found --key without --forward HOST:PORT")
    words = []
    if config is not None:
        _check_config(config)
        words.append(_word("config", config.resolve()))
    if place:
        words.append(f"place={place}")
    if budget:
        size = quantity.parse_size(budget)
        if size < SMALLEST_BUDGET:
            raise ValueError(f"found --budget {budget}, expected at least {quantity.format_size(SMALLEST_BUDGET)}")
        words.append(f"budget={size}")
    if cpus:
        words.append(f"cpus={cpus}")
    if forward and key:
        words.append(_word("forward", ",".join(forward)))
        words.append(_word("key", key.expanduser().resolve()))
    return words


def _word(key: str, value: str | os.PathLike[str]) -> str:
    """Returns a setting as a word, in which other letters than these are %XX (bindings/process_client/words.hpp)."""
    return f"{key}={urllib.parse.quote(os.fsencode(value), safe='/:,=+@~.-_[]')}"


def _refuse_hdf5_options(arguments: argparse.Namespace, door: str) -> None:
    for name in ("prefetch", "close"):
        if getattr(arguments, name):
            raise ValueError(f"found --{name} beside {door}, expected it without")


def openfoam_variables(config: pathlib.Path | None, place: str | None, budget: str | None,
                       environment: Mapping[str, str], summary: bool = False, forward: Sequence[str] | None = None,
                       key: pathlib.Path | None = None, trace: pathlib.Path | None = None,
                       cpus: str | None = None) -> dict[str, str]:
    """Returns the variables by which OpenFOAM's file handler is preloaded and chosen. Raises ValueError,
    tailrace.Error."""
    words = _common_words(config, place, budget, forward, key, cpus)
    if summary:
        words.append("summary")
    if trace is not None:
        words.append(_word("trace", trace.resolve()))
    library = (doors.built_openfoam() or OPENFOAM) / "libtailraceFoamPreload.so"
    if not library.is_file():
        raise ValueError(f"found no {library}: this tailrace was built without OpenFOAM; `tailrace doors build "
                         "openfoam` builds what is missing")
    added = {**programs.preload(library, environment), "FOAM_FILEHANDLER": "tailrace",
             "TAILRACE_OPENFOAM": " ".join(words)}
    if not environment.get("WM_PROJECT_DIR") and (OPENFOAM_FOLDER / "etc/controlDict").is_file():
        added["WM_PROJECT_DIR"] = str(OPENFOAM_FOLDER)
    return added


def _mpiio_variables(arguments: argparse.Namespace) -> dict[str, str]:
    """Returns the variables by which the library for MPI-IO is preloaded. Raises ValueError, tailrace.Error."""
    _refuse_hdf5_options(arguments, "--mpiio")
    words = _common_words(arguments.config, arguments.place, arguments.budget, arguments.forward, arguments.key,
                          arguments.cpus)
    if arguments.collective:
        words.append(f"collective={arguments.collective}")
    if arguments.profile is not None:
        if arguments.collective != "tune":
            raise ValueError("found --profile without --collective tune, which it needs")
        words.append(_word("profile", arguments.profile.expanduser().resolve()))
    if arguments.aggregators is not None:
        if arguments.aggregators < 1:
            raise ValueError(f"found --aggregators {arguments.aggregators}, expected at least 1")
        words.append(f"aggregators={arguments.aggregators}")
    if arguments.relaxed:
        words.append("relaxed")
    if arguments.summary:
        words.append("summary")
    if not arguments.program:
        raise ValueError("found no program, expected one: its MPI selects the library")
    name, version = mpi_of(arguments.program)
    library = doors.built_mpiio(name, version) or PRELOADED / f"libtailrace_mpiio_{name}.so"
    if not library.is_file():
        raise ValueError(f"found no {library}: this tailrace was built without this MPI; `tailrace doors build "
                         "mpiio` builds what is missing")
    return {**programs.preload(library, os.environ), "TAILRACE_MPIIO": " ".join(words)}


def mpi_of(program: Sequence[str]) -> tuple[str, str]:
    """Returns name and version of a program's MPI: of mpiexec, or of the library that the program is linked with,
    whose version is not known (""). Raises ValueError."""
    from tailrace import mpis

    path = shutil.which(program[0])
    if path is None:
        raise ValueError(f"found no program '{program[0]}' that can be run")
    if pathlib.Path(path).name.startswith(("mpiexec", "mpirun")):
        found = mpis.of_launcher(path)
        if found is None:
            raise ValueError(f"found '{path}', which is of another MPI than {' and '.join(mpis.NAMES)}")
        return found
    linked = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    for name, library in _LIBRARIES.items():
        if re.search(library, linked):
            return name, ""
    raise ValueError(f"found no MPI that '{path}' is linked with, expected one, or mpiexec")


def _check_plugin() -> None:
    plugins = list(PLUGINS.glob("lib*.so"))
    if not plugins:
        raise ValueError(f"found no HDF5 connector in {PLUGINS}: the package is incomplete")
    for plugin in plugins:
        try:
            ctypes.CDLL(str(plugin))
        except OSError as why:
            raise ValueError(f"found an HDF5 connector that cannot be loaded: {why}") from None


def _check_environment(environment: Mapping[str, str]) -> None:
    """Refuses to replace another connector, since a program has only one."""
    other = environment.get("HDF5_VOL_CONNECTOR", "").split()
    if other and other[0] != "tailrace":
        raise ValueError(f"found HDF5_VOL_CONNECTOR={other[0]} in the environment, expected no other connector")
    if environment.get("HDF5_PLUGIN_PRELOAD") == "::":
        raise ValueError("found HDF5_PLUGIN_PRELOAD=:: in the environment, by which HDF5 loads no plugins")


def _check_config(config: pathlib.Path) -> None:
    if not config.is_file():
        raise ValueError(f"found no file {config}")
    tailrace.check(config, flush_waits=True)
