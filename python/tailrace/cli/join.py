"""`tailrace join`: the files of several nodes, presented as one by HDF5 virtual datasets.

With `file_per: node` each node's file has the whole array's shape, and says in `tailraceBlocks` which parts of it are
the node's. A joined file holds no data: it refers to the nodes' files, beside which it must stay. Datasets that one
client wrote alone are linked to. Parts that no file has read as zero, and are told. Files that cannot be of one run
(other shapes or types, or the same part twice) are refused, and their iteration is not joined.
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

from . import output

_NODE_FILE = re.compile(r"(?P<name>.+)_n(?P<node>\d+)_(?P<iteration>\d{6,})\.h5")
_OF_A_CLIENT = re.compile(r".+_c\d+")


class _Unfit(Exception):
    """Why an iteration cannot be joined: names the file, what was found and what was expected."""


@dataclass
class _Array:
    """A whole array, as far as it is known."""

    file: str  # the first that has it
    layout: Any  # h5py.VirtualLayout
    attributes: dict[str, Any]
    parts: list[tuple[str, tuple[slice, ...]]] = field(default_factory=list)  # with the file that each is in

    def elements(self) -> int:
        """How many elements some file has."""
        return sum(int(np.prod([axis.stop - axis.start for axis in where])) for _, where in self.parts)


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "join", help="present the files of several nodes as one",
        description="Makes, for each iteration of which DIR has files of nodes (file_per: node), a file "
                    "NAME_ITERATION.h5 whose arrays are the whole ones: HDF5 virtual datasets over the nodes' files, "
                    "without a copy. Exit code 1 if parts of an array are in no file, or an iteration cannot be "
                    "joined.")
    parser.add_argument("directory", metavar="DIR", type=pathlib.Path, help="the output directory")
    parser.add_argument("--name", help="only the series of this name")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    series: dict[tuple[str, str], list[pathlib.Path]] = {}
    if not arguments.directory.is_dir():
        output.complain(f"{arguments.directory}: found no directory")
        return 1
    for file in sorted(arguments.directory.iterdir()):
        match = _NODE_FILE.fullmatch(file.name)
        if match and arguments.name in (None, match["name"]):
            series.setdefault((match["name"], match["iteration"]), []).append(file)
    if not series:
        output.complain(f"{arguments.directory}: found no files of nodes, expected some such as sim_n0_000000.h5")
        return 1
    complaints, joined = [], 0
    for (name, iteration), files in sorted(series.items()):
        try:
            complaints += join(arguments.directory / f"{name}_{iteration}.h5", files)
            joined += 1
        except _Unfit as why:
            complaints.append(f"{why}; iteration {int(iteration)} is not joined")
    for line in complaints:
        output.complain(line)
    print(f"{arguments.directory}: {joined} iterations joined of {sum(map(len, series.values()))} files")
    return 1 if complaints else 0


def join(target: pathlib.Path, files: list[pathlib.Path]) -> list[str]:
    """Makes `target` of the nodes' files of one iteration; returns a line for each array that is not whole."""
    import h5py  # here, since the other commands do without

    if target.exists() and _holds_data(target):
        raise _Unfit(f"{target}: found a file that holds data, as of a run with file_per: job, expected none or a "
                     "joined one")
    temporary = target.with_name(target.name + ".part")
    try:
        joined = h5py.File(temporary, "w")
    except OSError as error:
        raise _Unfit(f"{temporary}: cannot be written: {error}".splitlines()[0]) from error
    try:
        with joined:
            missing = _fill(joined, target, files)
        _rename(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)  # where it did not become the target
    return missing


def _holds_data(file: pathlib.Path) -> bool:
    """Whether some array lies in the file itself: in one that was joined none does."""
    import h5py

    with contextlib.suppress(OSError), h5py.File(file, "r") as opened:
        meshes = opened.get(f"/data/{int(file.stem.rpartition('_')[2])}/meshes", {})
        return any(isinstance(meshes.get(name, getlink=True), h5py.HardLink) and not meshes[name].is_virtual
                   for name in meshes)
    return False


def _rename(temporary: pathlib.Path, target: pathlib.Path) -> None:
    try:
        os.replace(temporary, target)
    except OSError as error:
        raise _Unfit(f"{target}: cannot be written: {error.strerror}") from error


def _fill(joined: Any, target: pathlib.Path, files: list[pathlib.Path]) -> list[str]:
    series, _, text = target.stem.rpartition("_")
    iteration = f"/data/{int(text)}"
    group = joined.create_group(f"{iteration}/meshes")
    arrays: dict[str, _Array] = {}
    links: dict[str, str] = {}
    for file in files:
        with _open(file) as source:
            if f"{iteration}/meshes" not in source:
                raise _Unfit(f"{file}: found no iteration {int(text)} in it, expected the one of its name")
            _copy_attributes(source, joined)
            _copy_attributes(source[iteration], joined[iteration])
            for name, dataset in source[f"{iteration}/meshes"].items():
                if "tailraceBlocks" in dataset.attrs:
                    _add(arrays, name, dataset, file)
                else:
                    _link(links, group, name, dataset, file)
    joined.attrs["iterationFormat"] = np.bytes_(series + "_%06T")
    missing = []
    for name, array in arrays.items():
        whole = group.create_virtual_dataset(name, array.layout, fillvalue=0)
        whole.attrs.update({key: value for key, value in array.attributes.items() if key != "tailraceBlocks"})
        absent = whole.size - array.elements()
        if absent:
            missing.append(f"{target}: {name}: {absent} of {whole.size} elements are in no file, and read as zero")
    return missing


def _open(file: pathlib.Path) -> Any:
    import h5py

    try:
        return h5py.File(file, "r")
    except OSError as error:
        raise _Unfit(f"{file}: cannot be read ({error}), expected an HDF5 file".replace("\n", " ")) from error


def _link(links: dict[str, str], group: Any, name: str, dataset: Any, file: pathlib.Path) -> None:
    """A dataset that one client wrote alone."""
    import h5py

    if not _OF_A_CLIENT.fullmatch(name):
        raise _Unfit(f"{file}: {name}: found no attribute tailraceBlocks, expected one that lists the node's parts")
    if name in links:
        raise _Unfit(f"{file}: {name}: found a client's block that {links[name]} has as well; they are of two runs")
    links[name] = file.name
    group[name] = h5py.ExternalLink(file.name, dataset.name)


def _add(arrays: dict[str, _Array], name: str, dataset: Any, file: pathlib.Path) -> None:
    """Maps the parts that the node has."""
    import h5py

    if name not in arrays:
        arrays[name] = _Array(file.name, h5py.VirtualLayout(dataset.shape, dataset.dtype), dict(dataset.attrs))
    array = arrays[name]
    layout = array.layout
    for what, found, expected in (("shape", dataset.shape, layout.shape), ("type", dataset.dtype, layout.dtype)):
        if found != expected:
            raise _Unfit(f"{file}: {name}: found {what} {found}, expected {expected} as in {array.file}")
    source = h5py.VirtualSource(file.name, dataset.name, dataset.shape)
    for block in dataset.attrs["tailraceBlocks"].reshape(-1, 2 * dataset.ndim):
        where = tuple(slice(int(start), int(start + count))
                      for start, count in zip(block[:dataset.ndim], block[dataset.ndim:]))
        if any(axis.stop > extent for axis, extent in zip(where, dataset.shape)):
            raise _Unfit(f"{file}: {name}: found a part outside the array, {_text(where)} of {dataset.shape}")
        for other, part in array.parts:
            overlap = all(one.start < two.stop and two.start < one.stop for one, two in zip(where, part))
            if overlap and other != file.name:
                raise _Unfit(f"{file}: {name}: found the same part, {_text(where)}, as in {other}; they are of two "
                             "runs")
        layout[where] = source[where]
        array.parts.append((file.name, where))


def _text(where: tuple[slice, ...]) -> str:
    return "[" + ", ".join(f"{axis.start}:{axis.stop}" for axis in where) + "]"


def _copy_attributes(source: Any, target: Any) -> None:
    for key, value in source.attrs.items():
        if key not in ("tailraceNode", "tailraceClient"):
            target.attrs[key] = value
