"""Files by which other programs open a series: XDMF for ParaView and VisIt, `.pmd` for openPMD's readers in them."""

from __future__ import annotations

import pathlib
import xml.etree.ElementTree as xml
from typing import Any

import numpy as np

from .quantity import counted
from .series import Record, Series

_TYPES = {"f": "Float", "i": "Int", "u": "UInt"}
_NAMES = "XYZ"


def write_pmd(series: Series, directory: pathlib.Path) -> list[pathlib.Path]:
    """Writes NAME.pmd, which names the pattern of the files, or the file if all iterations are in one. If there are
    several files of several iterations, writes one for each: no pattern names their iterations."""
    files = sorted(set(series.files.values()))
    if series.has_file_each:
        named = {series.name: f"{series.name}_%06T.h5"}
    elif len(files) == 1:
        named = {series.name: files[0].name}
    else:
        named = {file.stem: file.name for file in files}
    for name, content in named.items():
        (directory / f"{name}.pmd").write_text(f"{content}\n", encoding="utf-8")
    return [directory / f"{name}.pmd" for name in named]


def write_xdmf(series: Series, directory: pathlib.Path) -> tuple[pathlib.Path, list[str]]:
    """Writes NAME.xmf: meshes of two and three dimensions, and particles. Returns what it left out, and why."""
    left_out: dict[str, str] = {}
    root = xml.Element("Xdmf", Version="3.0")
    domain = xml.SubElement(root, "Domain")
    times = {iteration: series.attributes_of(iteration).get("time", float(iteration))
             for iteration in series.iterations}
    grids: dict[tuple[Any, ...], list[tuple[int, list[Record]]]] = {}
    for iteration in series.iterations:
        for key, records in _by_grid(series.records(iteration), left_out).items():
            grids.setdefault(key[:1], []).append((iteration, records))
        for species in series.species(iteration):
            records = list(series.records(iteration, f"particles/{species}").values())
            grids.setdefault(("particles", species), []).append((iteration, records))
    for key, steps in sorted(grids.items(), key=lambda one: str(one[0])):
        collection = xml.SubElement(domain, "Grid", Name=str(key[-1]), GridType="Collection",
                                    CollectionType="Temporal")
        for iteration, records in steps:
            if key[0] == "particles":
                _add_particles(collection, series, iteration, times[iteration], records, left_out)
            else:
                _add_mesh(collection, series, iteration, times[iteration], records)
    path = directory / f"{series.name}.xmf"
    xml.indent(root)
    path.write_text('<?xml version="1.0" ?>\n' + xml.tostring(root, encoding="unicode") + "\n", encoding="utf-8")
    return path, [f"{name}: {why}" for name, why in sorted(left_out.items())]


def _by_grid(records: dict[str, Record], left_out: dict[str, str]) -> dict[tuple[Any, ...], list[Record]]:
    """Puts together the meshes of one grid; the key begins with a name of the grid."""
    grids: dict[tuple[Any, ...], list[Record]] = {}
    for record in records.values():
        if len(record.shape) not in (2, 3):
            left_out[record.name] = f"it has {counted(len(record.shape), 'dimension')}, expected 2 or 3"
        elif not _is_number(record):
            left_out[record.name] = f"XDMF has no {np.dtype(record.dtype)}"
        elif record.value is None:
            name = "mesh " + "x".join(map(str, record.shape))
            place = (tuple(record.attributes["gridSpacing"]), tuple(record.attributes["gridGlobalOffset"]))
            grids.setdefault((name, place), []).append(record)
    return grids


def _is_number(record: Record) -> bool:
    dtype = np.dtype(record.dtype)
    return dtype.kind in _TYPES and dtype.itemsize in (1, 2, 4, 8) and (dtype.kind != "f" or dtype.itemsize >= 4)


def _item(parent: xml.Element, series: Series, iteration: int, record: Record) -> None:
    dtype = np.dtype(record.dtype)
    item = xml.SubElement(parent, "DataItem", Dimensions=" ".join(map(str, record.shape)), Format="HDF",
                          NumberType=_TYPES[dtype.kind], Precision=str(dtype.itemsize))
    if dtype.byteorder == ">":
        item.set("Endian", "Big")
    item.text = f"{series.files[iteration].name}:/data/{iteration}/{record.path}"


def _numbers(parent: xml.Element, numbers: Any) -> None:
    item = xml.SubElement(parent, "DataItem", Dimensions=str(len(numbers)), Format="XML", NumberType="Float",
                          Precision="8")
    item.text = " ".join(repr(float(number)) for number in numbers)


def _add_mesh(parent: xml.Element, series: Series, iteration: int, time: float, records: list[Record]) -> None:
    first = records[0]
    rank = len(first.shape)
    grid = xml.SubElement(parent, "Grid", Name=f"{iteration}", GridType="Uniform")
    xml.SubElement(grid, "Time", Value=repr(float(time)))
    xml.SubElement(grid, "Topology", TopologyType=f"{rank}DCoRectMesh", Dimensions=" ".join(map(str, first.shape)))
    geometry = xml.SubElement(grid, "Geometry",
                              GeometryType="ORIGIN_DXDY" if rank == 2 else "ORIGIN_DXDYDZ")
    _numbers(geometry, first.attributes["gridGlobalOffset"])
    _numbers(geometry, first.attributes["gridSpacing"])
    for record in records:
        _item(xml.SubElement(grid, "Attribute", Name=record.name, AttributeType="Scalar", Center="Node"), series,
              iteration, record)


def _add_particles(parent: xml.Element, series: Series, iteration: int, time: float, records: list[Record],
                   left_out: dict[str, str]) -> None:
    position = [record for record in records if record.path.split("/")[2] == "position" and record.value is None]
    if not 1 <= len(position) <= len(_NAMES) or not all(map(_is_number, position)):
        left_out[records[0].path.split("/")[1]] = "it has no positions of one to three components"
        return
    grid = xml.SubElement(parent, "Grid", Name=f"{iteration}", GridType="Uniform")
    xml.SubElement(grid, "Time", Value=repr(float(time)))
    count = position[0].shape[0]
    xml.SubElement(grid, "Topology", TopologyType="Polyvertex", NumberOfElements=str(count))
    geometry = xml.SubElement(grid, "Geometry", GeometryType="X_Y_Z")
    for number in range(len(_NAMES)):
        if number < len(position):
            _item(geometry, series, iteration, position[number])
        else:  # zeros, computed of a position
            function = xml.SubElement(geometry, "DataItem", ItemType="Function", Function="$0 * 0",
                                      Dimensions=str(count))
            _item(function, series, iteration, position[0])
    for record in records:
        if record.value is None and _is_number(record) and record not in position:
            _item(xml.SubElement(grid, "Attribute", Name=record.name, AttributeType="Scalar", Center="Node"), series,
                  iteration, record)
