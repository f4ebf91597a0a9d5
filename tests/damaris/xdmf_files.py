"""XDMF files, read without a library of XDMF: every reference is looked up by h5py."""

from __future__ import annotations

import dataclasses
import pathlib
import xml.etree.ElementTree as xml

import h5py
import numpy as np

_TYPES = {"Float": "f", "Int": "i", "UInt": "u"}


@dataclasses.dataclass
class Grid:
    """A grid that is no collection."""

    name: str
    topology: str
    nodes: list[int]
    geometry: list[np.ndarray]
    values: dict[str, np.ndarray]
    center: dict[str, str]


@dataclasses.dataclass
class Iteration:
    """A spatial collection."""

    time: float
    grids: list[Grid]
    left_out: list[str]


def iterations(file: pathlib.Path) -> list[Iteration]:
    """Returns the iterations of a file: one, or those of a run."""
    domain = xml.parse(file).getroot().find("Domain")
    assert domain is not None
    top = domain.findall("Grid")
    assert len(top) == 1
    if top[0].get("CollectionType") == "Temporal":
        top = top[0].findall("Grid")
    return [_iteration(grid, file.parent) for grid in top]


def _iteration(grid: xml.Element, directory: pathlib.Path) -> Iteration:
    assert grid.get("CollectionType") == "Spatial"
    time = grid.findall("Time")
    assert len(time) == 1
    return Iteration(float(time[0].attrib["Value"]), [_grid(one, directory) for one in grid.findall("Grid")],
                     [one.attrib["Value"] for one in grid.findall("Information")])


def _grid(grid: xml.Element, directory: pathlib.Path) -> Grid:
    topology, geometry = grid.find("Topology"), grid.find("Geometry")
    assert topology is not None
    assert geometry is not None
    nodes = topology.get("Dimensions") or topology.attrib["NumberOfElements"]
    values = {one.attrib["Name"]: _data(one[0], directory) for one in grid.findall("Attribute")}
    return Grid(grid.attrib["Name"], topology.attrib["TopologyType"], [int(one) for one in nodes.split()],
                [_data(one, directory) for one in geometry], values,
                {one.attrib["Name"]: one.attrib["Center"] for one in grid.findall("Attribute")})


def _data(item: xml.Element, directory: pathlib.Path) -> np.ndarray:
    shape = tuple(int(one) for one in item.attrib["Dimensions"].split())
    if item.get("ItemType") == "Function":
        assert item.get("Function") == "$0 * 0"
        return _data(item[0], directory) * 0
    assert item.text is not None
    if item.get("Format") == "XML":
        return np.array([float(one) for one in item.text.split()]).reshape(shape)
    name, path = item.text.strip().split(":")
    with h5py.File(directory / name) as opened:
        found = opened[path][...]
    assert found.shape == shape
    assert found.dtype == np.dtype(_TYPES[item.attrib["NumberType"]] + item.attrib["Precision"])
    return found
