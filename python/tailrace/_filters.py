"""Filters of HDF5 that h5py does not have by itself, such as zstd: the package hdf5plugin has them."""

from __future__ import annotations

from typing import Any


def load_for(dataset: Any) -> None:
    """Loads what reading the dataset, of h5py, needs. Raises OSError if that is not installed."""
    for number, name in _missing(dataset):
        try:
            import hdf5plugin  # noqa: F401  # registers its filters
        except ImportError:
            pass
        if _missing(dataset):
            raise OSError(f"{dataset.file.filename}: {dataset.name}: found HDF5 filter {number} ({name}), expected "
                          "one that h5py has; the package hdf5plugin has the filter: pip install hdf5plugin")
        return


def _missing(dataset: Any) -> list[tuple[int, str]]:
    from h5py import h5z

    creation = dataset.id.get_create_plist()
    used = [creation.get_filter(number) for number in range(creation.get_nfilters())]
    return [(number, name.decode(errors="replace") or "without a name") for number, _, _, name in used
            if not h5z.filter_avail(number)]
