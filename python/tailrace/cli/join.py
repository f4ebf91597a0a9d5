"""`tailrace join`: presents the files of several nodes or clients as one, with HDF5 virtual datasets. With
`--to` it puts striped files together instead (join_stripes.py).

A part of a global array, a slab or a brick, plain or filtered, is mapped to its place in the whole (join_arrays.py).
A joined file holds no data: it refers to the others, and must stay beside them. Arrays of which each client has its
own are linked. Parts that are in no file read as the variable's `fill_value`, else as NaN (0 in integers), and are
reported, as are missing clients. Files that cannot belong to one run (other
shapes or types, or the same part twice) are refused, and their iteration is not joined.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailrace import missing as missing_clients
from tailrace import own_file, plain_files, series_files, striped
from tailrace.quantity import counted

from . import boxes, join_records, join_stripes, output, progress
from .join_arrays import Unfit, Variable, source_of
from .join_records import Key

_OF_ONE = re.compile(r"(?P<name>.+)_(?P<whose>[nc])(?P<number>\d+)")  # a series of one node or client
_MOST_TOLD = 4  # most missing parts that are reported


@dataclass
class _Content:
    """The contents of an iteration's files."""

    root: dict[str, Any] = field(default_factory=dict)  # attributes
    group: dict[str, Any] = field(default_factory=dict)  # attributes of the iteration
    variables: dict[Key, Variable] = field(default_factory=dict)
    groups: join_records.Groups = field(default_factory=join_records.Groups)


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "join", help="present the files of several nodes or clients as one",
        description="For each iteration with files of nodes or clients in DIR (file_per: node, process), creates a "
                    "file NAME_ITERATION.h5 with the complete arrays: HDF5 virtual datasets over those files, "
                    "without a copy, for slabs and bricks, plain and filtered. Exit code 1 if parts of an array are "
                    "in no file, if clients are missing, or if an iteration cannot be joined, for example because "
                    "two files have the same part. With --to, converts the striped files in DIR (storage.stripe), or "
                    "one of them, to plain files.")
    parser.add_argument("directory", metavar="DIR", type=pathlib.Path, help="the output directory; with --to, also a "
                                                                            "striped file")
    parser.add_argument("--to", metavar="TARGET", type=pathlib.Path,
                        help="the directory for the plain files, or the name of one")
    parser.add_argument("--device", metavar="DIR", type=pathlib.Path, action="append", default=[],
                        help="with --to: where moved objects of striped files are now; may be repeated")
    parser.add_argument("--name", help="only the series of this name")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    if arguments.to is not None:
        return join_stripes.run(arguments.directory, arguments.to, arguments.device)
    series: dict[tuple[str, int], list[pathlib.Path]] = {}
    if not arguments.directory.is_dir():
        output.complain(f"{arguments.directory}: found no directory")
        return 1
    for one, iterations in sorted(series_files.find(arguments.directory).items(), key=lambda one: _order(one[0])):
        match = _OF_ONE.fullmatch(one)
        if match and arguments.name in (None, match["name"]):
            for iteration, file in iterations.items():
                series.setdefault((match["name"], iteration), []).append(file)
    if not series:
        plain = next(iter(plain_files.find(arguments.directory)), None)
        found = "no files of nodes or clients" if plain is None else \
            f"files of the format plain ({plain}), which do not say where their blocks are in the whole"
        output.complain(f"{arguments.directory}: found {found}, expected some such as sim_n0_000000.h5 or "
                        "sim_c0_000000.h5")
        return 1
    complaints, joined = [], 0
    for (name, iteration), files in progress.over(sorted(series.items()), "joining iterations"):
        try:
            complaints += join(arguments.directory / f"{name}_{iteration:06}.h5", iteration, files)
            joined += 1
        except Unfit as why:
            complaints.append(f"{why}; iteration {iteration} is not joined")
    for line in complaints:
        output.complain(line)
    count = len({file for files in series.values() for file in files})
    print(f"{arguments.directory}: {counted(joined, 'iteration')} joined from {counted(count, 'file')}")
    return 1 if complaints else 0


def _order(series: str) -> tuple[int, str]:
    """Sorts by numbers of nodes and clients: 9 before 10."""
    match = _OF_ONE.fullmatch(series)
    return int(match["number"]) if match else 0, series


def join(target: pathlib.Path, iteration: int, files: list[pathlib.Path]) -> list[str]:
    """Makes `target` from the files that have the iteration; returns a line for each array that is incomplete."""
    import h5py  # here, since the other commands do not need it

    if target.exists() and _holds_data(target, iteration):
        raise Unfit(f"{target}: found a file that holds data, as of a run with file_per: job, expected none or a "
                    "joined one")
    temporary = own_file.unfinished(target)
    content = _read(iteration, files)
    try:
        os.close(own_file.make(temporary))
        joined = h5py.File(temporary, "w")
    except OSError as error:
        raise Unfit(f"{temporary}: cannot be written: {error}".splitlines()[0]) from error
    try:
        with joined:
            missing = _fill(joined, target, iteration, content)
        _rename(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)  # if it did not become the target
    return missing


def _holds_data(file: pathlib.Path, number: int) -> bool:
    """Returns True if some array is in the file itself: a joined file has none."""
    import h5py

    with contextlib.suppress(OSError), h5py.File(file, "r") as opened:
        iteration = opened.get(f"/data/{number}", {})
        return any(isinstance(dataset.parent.get(dataset.name.rpartition("/")[2], getlink=True), h5py.HardLink)
                   and dataset.file == opened and not dataset.is_virtual
                   for _, dataset in join_records.datasets(iteration))
    return False


def _rename(temporary: pathlib.Path, target: pathlib.Path) -> None:
    try:
        os.replace(temporary, target)
    except OSError as error:
        raise Unfit(f"{target}: cannot be written: {error.strerror}") from error


def _owner(file: pathlib.Path) -> re.Match[str] | None:
    """Returns the node or client of a file, by its name."""
    return _OF_ONE.fullmatch(series_files.series_of(file.name) or "")


def _read(iteration: int, files: list[pathlib.Path]) -> _Content:
    content = _Content()
    numbers: set[int] = set()  # of missing clients
    unnamed = 0
    kinds = {match["whose"] for file in files if (match := _owner(file))}
    if len(kinds) > 1:
        raise Unfit(f"{files[0].parent}: found files of nodes and of clients, {files[0].name} and {files[-1].name} "
                    "among them, expected those of one run")
    for file in files:
        group = f"/data/{iteration}"
        with _open(file) as source:
            if f"{group}/meshes" not in source:
                raise Unfit(f"{file}: found no iteration {iteration} in it, expected the one of its name")
            content.root.update(source.attrs)
            content.group.update(source[group].attrs)
            missing = missing_clients.of(source[group].attrs)
            numbers.update(missing[0])
            unnamed += missing[1]
            content.groups.add(source[group])
            for key, dataset in join_records.datasets(source[group]):
                _add(content.variables, key, dataset, file)
    if numbers:
        content.group["tailraceMissingClients"] = np.array(sorted(numbers), dtype="u8")
    if unnamed:
        content.group["tailraceMissingUnnamed"] = np.uint32(unnamed)
    for key in ("tailraceNode", "tailraceClient"):
        content.root.pop(key, None)
    return content


def _open(file: pathlib.Path) -> Any:
    import h5py

    try:
        if striped.head_of(file):
            raise Unfit(f"{file}: found a striped file, expected a plain one, as `tailrace join {file.parent} --to "
                        "TARGET` makes")
        return h5py.File(file, "r")
    except (OSError, striped.Malformed) as error:
        raise Unfit(f"{file}: cannot be read ({error}), expected an HDF5 file".replace("\n", " ")) from error


def _add(variables: dict[Key, Variable], key: Key, dataset: Any, file: pathlib.Path) -> None:
    """Adds the dataset to its variable. In a client's own file the names are those of the variables."""
    client = None
    match = _owner(file)
    if match and match["whose"] == "c":
        client = int(match["number"])
    elif "tailraceBlocks" not in dataset.attrs:
        own = join_records.of_a_client(key)
        if not own:
            raise Unfit(f"{file}: {key[1]}: found no attribute tailraceBlocks, expected one that lists the node's "
                        "parts")
        key, client = own
    variables.setdefault(key, Variable()).sources.append(source_of(dataset, file, client))


def _fill(joined: Any, target: pathlib.Path, number: int, content: _Content) -> list[str]:
    """Writes the joined file; returns a line for each array that is incomplete, or not there."""
    series = target.stem.rpartition("_")[0]
    iteration = joined.create_group(f"/data/{number}")
    iteration.create_group("meshes")
    joined.attrs.update(content.root | {"iterationEncoding": np.bytes_("fileBased"),
                                        "iterationFormat": np.bytes_(os.fsencode(series) + b"_%06T")})
    iteration.attrs.update(content.group)
    told = [f"{target}: {line}" for line in missing_clients.sentences({number: missing_clients.of(content.group)})]
    for (root, name), variable in sorted(content.variables.items()):
        group = iteration.require_group(root)
        if not variable.is_one_array():
            _link(group, name, variable)
            continue
        variable.check()
        try:
            variable.present(group, name)
        except (AttributeError, TypeError, ValueError, OSError, RuntimeError) as why:  # of h5py
            told.append(f"{target}: {name}: cannot be joined, as HDF5 has no whole array of type "
                        f"{variable.sources[0].type}: {why}".replace("\n", " "))
            continue
        missing = variable.missing()
        if missing:
            where = ", ".join(map(boxes.text, missing[:_MOST_TOLD]))
            more = f" and {counted(len(missing) - _MOST_TOLD, 'more part')}" if len(missing) > _MOST_TOLD else ""
            told.append(f"{target}: {name}: {sum(map(boxes.size, missing))} of {group[name].size} elements are in no "
                        f"file, and read as {_short(variable.nothing)}: {where}{more}")
    content.groups.write(iteration)
    return told


def _short(value: Any) -> str:
    return "NaN" if value != value else f"{np.real(value):g}"  # NaN alone differs from itself


def _link(group: Any, name: str, variable: Variable) -> None:
    """Links arrays of which each client wrote its own."""
    import h5py

    linked: dict[int | None, str] = {}
    for source in variable.sources:
        if source.client in linked:
            raise Unfit(f"{source.title}: found a client's block that {linked[source.client]} has as well; they are "
                        "of two runs")
        linked[source.client] = source.path.name
        # Of a vector, and of particles, the whole record or species is linked, once.
        record = name.split("/")[0]
        link = f"{record}_c{source.client}"
        depth = name.count("/")
        if link not in group or depth == 0:
            group[link] = h5py.ExternalLink(source.path.name, source.name.rsplit("/", depth)[0])
