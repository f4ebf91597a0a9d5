"""Coordinates of meshes in a file (`format: {dimension_scales: true}`): they are no variables of the program."""

from __future__ import annotations

from typing import Any


def is_scale(found: Any) -> bool:
    """Returns True for a dataset, of h5py, that is an HDF5 dimension scale."""
    return bytes(found.attrs.get("CLASS", b"")) == b"DIMENSION_SCALE" if hasattr(found, "attrs") else False


def own_attributes(found: Any) -> dict[str, Any]:
    """Returns the attributes of a dataset or group, of h5py, without its references to scales: they mean something
    in its file alone."""
    return {name: found.attrs[name] for name in found.attrs if name != "DIMENSION_LIST"}
