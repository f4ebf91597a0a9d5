"""The whole arrays of `tailrace join`: which datasets of which files have parts of them, and where.

A dataset that several clients share, in a node's or job's file, has the whole array's shape, and lists its parts in
`tailraceBlocks`. Every other dataset is one client's block, and has its place in `tailraceGlobalShape` and
`tailraceOffset`. Datasets that cannot form one array are refused: other shapes or types, or the same part twice.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailrace._scales import own_attributes

from . import boxes
from .boxes import Box

_SHARED = "tailraceBlocks"
_MOST_BLOCK_NUMBERS = 7500  # in that attribute; as in the files of nodes, it is left out if it would be larger
# How to combine an attribute whose values differ between blocks; all others are those of the first block.
_TOGETHER = {"tailraceLargestError": np.maximum, "tailraceLargestRelativeError": np.maximum,
             "tailraceOverflows": np.add, "tailraceFilterRelaxed": np.add}


class Unfit(Exception):
    """Says why an iteration cannot be joined: names the file, what was found and what was expected."""


@dataclass(frozen=True)
class Source:
    """A dataset that has parts of an array."""

    path: pathlib.Path  # of the file, in the directory of the joined one
    name: str  # in the file
    client: int | None  # the block's client; None: clients share the dataset
    shape: tuple[int, ...]
    type: np.dtype[Any]
    whole: tuple[int, ...]  # the shape of the whole array
    offset: tuple[int, ...]  # of the dataset in the whole array
    blocks: tuple[Box, ...]  # its parts, in the whole array
    attributes: dict[str, Any]
    fill_value: Any = None

    @property
    def title(self) -> str:
        return _title(self.path, self.name)


def source_of(dataset: Any, path: pathlib.Path, client: int | None) -> Source:
    """Reads an open dataset; `client` is None if clients share it. Raises Unfit."""
    attributes = own_attributes(dataset)
    title = _title(path, dataset.name)
    if client is None:
        whole, offset = dataset.shape, (0,) * dataset.ndim
        rows = np.reshape(attributes[_SHARED], (-1, 2 * dataset.ndim))
        blocks = tuple(boxes.box(row[:dataset.ndim], row[dataset.ndim:]) for row in rows)
    else:
        whole, offset = (_place(attributes, key, dataset.ndim, title)
                         for key in ("tailraceGlobalShape", "tailraceOffset"))
        blocks = (boxes.box(offset, dataset.shape),)
    for block in blocks:
        if any(axis.stop > extent for axis, extent in zip(block, whole)):
            raise Unfit(f"{title}: found a part outside the array, {boxes.text(block)} of {whole}")
    return Source(path, dataset.name, client, dataset.shape, dataset.dtype, whole, offset,
                  tuple(block for block in blocks if boxes.size(block)), attributes, _fill_value_of(dataset))


def _fill_value_of(dataset: Any) -> Any:
    """Returns the dataset's fill value; None if it has none of its own."""
    import h5py

    has_own = dataset.id.get_create_plist().fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED
    return dataset.fillvalue if has_own else None


def _title(path: pathlib.Path, name: str) -> str:
    return f"{path}: {name.rpartition('/')[2]}"


def _place(attributes: dict[str, Any], key: str, rank: int, title: str) -> tuple[int, ...]:
    if key not in attributes:
        raise Unfit(f"{title}: found no attribute {key}, expected one that says where the block belongs")
    found = tuple(int(number) for number in np.atleast_1d(attributes[key]))
    if len(found) != rank:
        raise Unfit(f"{title}: found {key} {found}, expected {rank} numbers")
    return found


@dataclass
class Variable:
    """All datasets of a variable in the files of an iteration."""

    sources: list[Source] = field(default_factory=list)

    def is_one_array(self) -> bool:
        """Returns True if the datasets are parts of one array; otherwise each client has its own."""
        return any(source.client is None or source.shape != source.whole for source in self.sources)

    def check(self) -> None:
        """Raises Unfit if the datasets do not fit together."""
        first = self.sources[0]
        for source in self.sources[1:]:
            for what, found, expected in (("shape", source.whole, first.whole), ("type", source.type, first.type)):
                if found != expected:
                    raise Unfit(f"{source.title}: found {what} {found}, expected {expected} as in {first.path.name}")
        self._check_overlaps()

    def _check_overlaps(self) -> None:
        """Checks that no two datasets have the same part. (Within a shared one, the last write counts.)"""
        parts = [(source, block) for source in self.sources for block in source.blocks]
        edges = np.array([[(axis.start, axis.stop) for axis in block] for _, block in parts])
        for number, (source, block) in enumerate(parts):
            before, own = edges[:number], edges[number]
            shared = np.all((before[..., 0] < own[:, 1]) & (own[:, 0] < before[..., 1]), axis=-1)
            for other in (parts[i][0] for i in np.flatnonzero(shared)):
                if other is not source:
                    raise Unfit(f"{source.title}: found the same part, {boxes.text(block)}, as in {other.title}; "
                                "they are of two runs, or of clients that overlap")

    def missing(self) -> list[Box]:
        """Returns the parts that are in no file."""
        return boxes.left_of(self.sources[0].whole, (block for source in self.sources for block in source.blocks))

    @property
    def nothing(self) -> Any:
        """What the parts that are in no file read as: the variable's `fill_value`, else NaN, else 0."""
        first = self.sources[0]
        if first.fill_value is not None:
            return first.fill_value
        if first.type.kind == "c":
            return complex(np.nan, np.nan)
        return np.nan if first.type.kind == "f" else 0

    def present(self, group: Any, name: str) -> None:
        """Creates the whole array of this name in a group of the joined file."""
        import h5py

        layout = h5py.VirtualLayout(self.sources[0].whole, self.sources[0].type)
        for source in self.sources:
            theirs = h5py.VirtualSource(source.path.name, source.name, source.shape)
            for block in source.blocks:
                layout[block] = theirs[tuple(slice(axis.start - first, axis.stop - first)
                                             for axis, first in zip(block, source.offset))]
        whole = group.create_virtual_dataset(name, layout, fillvalue=np.array(self.nothing, self.sources[0].type))
        whole.attrs.update(self._attributes())

    def _attributes(self) -> dict[str, Any]:
        found = dict(self.sources[0].attributes)
        for source in self.sources[1:]:
            for key, together in _TOGETHER.items():
                if key in source.attributes:
                    value = source.attributes[key]
                    found[key] = together(found[key], value) if key in found else value
        corner = min(self.sources, key=lambda source: sum(source.offset))  # the smallest offset
        if "gridGlobalOffset" in corner.attributes and any(corner.offset):
            found["gridGlobalOffset"] = (corner.attributes["gridGlobalOffset"] -
                                         np.array(corner.offset) * corner.attributes["gridSpacing"])
        elif "gridGlobalOffset" in corner.attributes:
            found["gridGlobalOffset"] = corner.attributes["gridGlobalOffset"]
        found["tailraceOffset"] = np.zeros(len(corner.whole), dtype="u8")
        rows = np.array([[*(axis.start for axis in block), *(axis.stop - axis.start for axis in block)]
                         for source in self.sources for block in source.blocks], dtype="u8").reshape(-1)
        found.pop(_SHARED, None)
        if rows.size <= _MOST_BLOCK_NUMBERS:
            found[_SHARED] = rows
        return found
