"""The datasets of an iteration: meshes, vectors and particles; and what their groups say. For `tailrace join`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailrace._scales import is_scale

ROOTS = ("meshes", "particles")
_OF_A_CLIENT = re.compile(r"(?P<name>.+)_c(?P<client>\d+)")
_PATCHES = "particlePatches"

Key = tuple[str, str]  # the group of the iteration, and the name below it: ("particles", "electrons/position/x")


def datasets(iteration: Any) -> Iterator[tuple[Key, Any]]:
    """Yields the arrays of an iteration's group; not the particle patches."""
    for root in ROOTS:
        for name, found in iteration.get(root, {}).items():
            for path, dataset in _below(name, found):
                yield (root, path), dataset


def _below(path: str, found: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(found, "items"):
        if not is_scale(found):  # its part of the coordinates may be in other files, too
            yield path, found
        return
    for name, child in found.items():
        if name != _PATCHES:
            yield from _below(f"{path}/{name}", child)


def of_a_client(key: Key) -> tuple[Key, int] | None:
    """Returns the key without the client's number, which is in the name's first part, and the number."""
    first, slash, rest = key[1].partition("/")
    match = _OF_A_CLIENT.fullmatch(first)
    return ((key[0], match["name"] + slash + rest), int(match["client"])) if match else None


@dataclass
class Groups:
    """The groups of records and species, of all files of an iteration."""

    attributes: dict[Key, dict[str, Any]] = field(default_factory=dict)
    # By species, of each file.
    patches: dict[str, list[dict[str, np.ndarray[Any, Any]]]] = field(default_factory=dict)
    attributes_of_patches: dict[Key, dict[str, Any]] = field(default_factory=dict)  # by species and path

    def add(self, iteration: Any) -> None:
        """Takes up the groups of an iteration in one file."""
        for root in ROOTS:
            for name, found in iteration.get(root, {}).items():
                if hasattr(found, "items"):
                    self._add((root, name), found)

    def _add(self, key: Key, group: Any) -> None:
        own = of_a_client(key)
        plain = own[0] if own else key
        self.attributes[plain] = _of_the_whole(group)
        for name, child in group.items():
            if name == _PATCHES and key[0] == ROOTS[1]:
                self._add_patches(plain[1], group)
            elif hasattr(child, "items"):
                self._add((key[0], f"{key[1]}/{name}"), child)

    def _add_patches(self, species: str, group: Any) -> None:
        columns = {path: dataset[...] for name, child in group[_PATCHES].items()
                   for path, dataset in _below(name, child)}
        for name, child in group[_PATCHES].items():
            self.attributes_of_patches[species, name] = dict(child.attrs)
            for path, dataset in _below(name, child):
                self.attributes_of_patches[species, path] = dict(dataset.attrs)
        # In a client's file the datasets begin at its first particle.
        begin = next((int(dataset.attrs["tailraceOffset"][0]) for _, dataset in _arrays(group)), 0)
        self.patches.setdefault(species, []).append(
            {path: (values + begin if path == "numParticlesOffset" else values)
             for path, values in columns.items()})

    def write(self, iteration: Any) -> None:
        """Describes the groups that are in the joined iteration. Constants get the number of all particles."""
        for (root, name), attributes in sorted(self.attributes.items()):
            top = name.split("/")[0]
            species = iteration.get(f"{root}/{top}")
            if species is None:
                continue
            group = species.file.require_group(f"{iteration.name}/{root}/{name}")
            group.attrs.update(attributes)
            count = next((dataset.shape for _, dataset in _arrays(species)), None)
            if "value" in attributes and "shape" in attributes and count is not None:
                group.attrs["shape"] = np.array(count, dtype="u8")
        for species_name, files in self.patches.items():
            if f"particles/{species_name}" in iteration:
                patches = _write_patches(iteration[f"particles/{species_name}"], files)
                for (species_of, path), attributes in self.attributes_of_patches.items():
                    if species_of == species_name:
                        patches[path].attrs.update(attributes)


def _arrays(group: Any) -> Iterator[tuple[str, Any]]:
    for name, child in group.items():
        if name != _PATCHES:
            yield from _below(name, child)


def _of_the_whole(group: Any) -> dict[str, Any]:
    """Returns the attributes of a group; the grid of a vector begins where the whole array does."""
    attributes = dict(group.attrs)
    part = next((dataset for _, dataset in _arrays(group) if "tailraceOffset" in dataset.attrs), None)
    if part is not None and "gridGlobalOffset" in attributes:
        attributes["gridGlobalOffset"] = (attributes["gridGlobalOffset"] -
                                          part.attrs["tailraceOffset"] * attributes["gridSpacing"])
    return attributes


def _write_patches(species: Any, files: list[dict[str, np.ndarray[Any, Any]]]) -> Any:
    order = np.argsort(np.concatenate([file["numParticlesOffset"] for file in files]), kind="stable")
    for path in files[0]:
        species.create_dataset(f"{_PATCHES}/{path}", data=np.concatenate([file[path] for file in files])[order])
    return species[_PATCHES]
