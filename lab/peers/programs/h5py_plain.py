"""The pattern with h5py: one file for each iteration, with one contiguous dataset, written while the program waits.

A peer of tailrace in lab/peers; peer.py has the loop. The lines that a user adds to a program are between the
marks.
"""

from __future__ import annotations

import pathlib
import sys

import h5py
import numpy as np
import peer


class H5pyPlain:
    """h5py as in its introduction."""

    name = "h5py"
    page_cache = "synced"

    def __init__(self) -> None:
        self.switches: dict[str, object] = {}

    def describe(self) -> str:
        return f"h5py {h5py.__version__}, HDF5 {h5py.version.hdf5_version}, contiguous, one file an iteration"

    def open(self, directory: pathlib.Path, block: peer.Block) -> None:
        self._directory, self._block = directory, block.view(np.float64)

    def put(self, iteration: int) -> None:
        directory, block = self._directory, self._block
        # user code begin
        with h5py.File(directory / f"peer_{iteration:06}.h5", "w") as file:
            file.create_dataset("v0", data=block)
        # user code end

    def finish(self) -> None:
        pass

    def read(self, iteration: int) -> peer.Block:
        with h5py.File(self._directory / f"peer_{iteration:06}.h5", "r") as file:
            found = file["v0"][...]
        return found.view(np.uint8)


if __name__ == "__main__":
    sys.exit(peer.main(lambda arguments: H5pyPlain()))
