"""`tailrace join`: the files of several nodes, presented as one by HDF5 virtual datasets.

With `file_per: node` each node's file has the whole array's shape, and says in `tailraceBlocks` which parts of it are
the node's. A joined file holds no data: it refers to the nodes' files, beside which it must stay. Datasets that one
client wrote alone are linked to. Parts that no file has read as zero, and are told.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import output

_NODE_FILE = re.compile(r"(?P<name>.+)_n(?P<node>\d+)_(?P<iteration>\d{6,})\.h5")


@dataclass
class _Array:
    """A whole array, as far as it is known."""

    layout: Any  # h5py.VirtualLayout
    attributes: dict[str, Any]
    elements: int = 0  # that some file has


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "join", help="present the files of several nodes as one",
        description="Makes, for each iteration of which DIR has files of nodes (file_per: node), a file "
                    "NAME_ITERATION.h5 whose arrays are the whole ones: HDF5 virtual datasets over the nodes' files, "
                    "without a copy. Exit code 1 if parts of an array are in no file.")
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
    missing: list[str] = []
    for (name, iteration), files in sorted(series.items()):
        missing += join(arguments.directory / f"{name}_{iteration}.h5", files)
    for line in missing:
        output.complain(line)
    print(f"{arguments.directory}: {len(series)} iterations joined of {sum(map(len, series.values()))} files")
    return 1 if missing else 0


def join(target: pathlib.Path, files: list[pathlib.Path]) -> list[str]:
    """Makes `target` of the nodes' files of one iteration; returns a line for each array that is not whole."""
    import h5py  # here, since the other commands do without

    iteration = int(target.stem.rsplit("_", 1)[1])
    meshes = f"/data/{iteration}/meshes"
    temporary = target.with_name(target.name + ".part")
    with h5py.File(temporary, "w") as joined:
        arrays: dict[str, _Array] = {}
        for file in files:
            with h5py.File(file, "r") as source:
                _copy_attributes(source, joined)
                joined.attrs["iterationFormat"] = np.bytes_(target.stem.rsplit("_", 1)[0] + "_%06T")
                group = joined.require_group(meshes)
                _copy_attributes(source[f"/data/{iteration}"], joined[f"/data/{iteration}"])
                for name, dataset in source[meshes].items():
                    if "tailraceBlocks" in dataset.attrs:
                        _add(arrays, name, dataset, file.name)
                    elif name not in group:
                        group[name] = h5py.ExternalLink(file.name, dataset.name)
        missing = []
        for name, array in arrays.items():
            whole = group.create_virtual_dataset(name, array.layout, fillvalue=0)
            whole.attrs.update({key: value for key, value in array.attributes.items() if key != "tailraceBlocks"})
            if array.elements < whole.size:
                missing.append(f"{target}: {name}: {whole.size - array.elements} of {whole.size} elements are in no "
                               "file, and read as zero")
    os.replace(temporary, target)
    return missing


def _add(arrays: dict[str, _Array], name: str, dataset: Any, file: str) -> None:
    """Maps the parts that the node has."""
    import h5py

    rank = dataset.ndim
    if name not in arrays:
        arrays[name] = _Array(h5py.VirtualLayout(dataset.shape, dataset.dtype), dict(dataset.attrs))
    array = arrays[name]
    source = h5py.VirtualSource(file, dataset.name, dataset.shape)
    for block in dataset.attrs["tailraceBlocks"].reshape(-1, 2 * rank):
        where = tuple(slice(int(start), int(start + count)) for start, count in zip(block[:rank], block[rank:]))
        array.layout[where] = source[where]
        array.elements += int(np.prod(block[rank:]))


def _copy_attributes(source: Any, target: Any) -> None:
    for key, value in source.attrs.items():
        if key not in ("tailraceNode", "tailraceClient"):
            target.attrs[key] = value
