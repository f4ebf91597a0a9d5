#!/usr/bin/env python3
"""Reads what write_filtered has written with h5py, as any user would: python read_filtered.py WRITE_FILTERED"""

import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import hdf5plugin  # noqa: F401: brings zstd to h5py
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SHAPE = (13, 7, 50)
COUNT = int(np.prod(SHAPE))
SHUFFLE, DEFLATE, ZSTD = 2, 1, 32015

# Name, type in the file, and filters.
VARIABLES = [
    ("deflated", "float32", [SHUFFLE, DEFLATE]),
    ("deflated_unshuffled", "float64", [DEFLATE]),
    ("zstd_shuffled", "float64", [SHUFFLE, ZSTD]),
    ("zstd_unshuffled", "int16", [ZSTD]),
    ("bytes", "uint8", [ZSTD]),
    ("one_chunk", "int64", [SHUFFLE, DEFLATE]),
    ("half", "float16", []),
    ("half_zstd", "float16", [SHUFFLE, ZSTD]),
    ("half_deflated", "float16", [SHUFFLE, DEFLATE]),
    ("lossy", "float16", [SHUFFLE, ZSTD]),
    ("noise", "uint32", [SHUFFLE, ZSTD]),
    ("noise_deflated", "uint32", [SHUFFLE, DEFLATE]),
    ("plain", "float32", []),
]
ORIGINAL = {"half": "float32", "half_zstd": "float64", "half_deflated": "long_double", "lossy": "float32"}


def noise():
    with np.errstate(over="ignore"):
        x = (np.arange(COUNT, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(29)
        x *= np.uint64(0xBF58476D1CE4E5B9)
    return (x ^ x >> np.uint64(32)).astype(np.uint32)


def expected(index, name, dtype):
    if name.startswith("noise"):
        return noise().reshape(SHAPE)
    i = np.arange(COUNT)
    if name == "lossy":
        return (i.astype(np.float32) * np.float32(123.456)).reshape(SHAPE)
    return ((i * 3 + i // 7 + index) % 100).astype(dtype).reshape(SHAPE)


def filters(dataset):
    creation = dataset.id.get_create_plist()
    return [creation.get_filter(i)[0] for i in range(creation.get_nfilters())]


def check_loss(dataset, name, original):
    assert dataset.attrs["tailraceLossy"].decode() == "float16"
    assert dataset.attrs["tailraceOriginalType"].decode() == ORIGINAL[name]
    original = original.astype(np.float64)
    stored = dataset[...].astype(np.float64)
    kept = np.isfinite(stored) & (original != 0)
    error = np.abs(stored - original)[kept]
    assert dataset.attrs["tailraceLargestError"] == error.max(), name
    assert dataset.attrs["tailraceLargestRelativeError"] == (error / np.abs(original[kept])).max(), name
    assert dataset.attrs["tailraceOverflows"] == np.isinf(stored).sum(), name
    assert name != "lossy" or (np.isinf(stored).any() and error.max() > 0)


def check_masks(dataset, name):
    masks = {dataset.id.get_chunk_info(i).filter_mask for i in range(dataset.id.get_num_chunks())}
    # Of noise, only the last chunk becomes smaller, half of which are zeros beyond the edge.
    assert masks == ({0, 3} if name.startswith("noise") else {0}), f"{name}: {masks}"


def check(meshes):
    for index, (name, dtype, pipeline) in enumerate(VARIABLES):
        dataset = meshes[name]
        assert dataset.dtype == dtype, f"{name}: {dataset.dtype}"
        assert filters(dataset) == pipeline, f"{name}: {filters(dataset)}"
        original = expected(index, name, dtype)
        with np.errstate(over="ignore"):
            assert (dataset[...] == original.astype(dtype)).all(), f"{name}: other numbers"
        if name in ORIGINAL:
            check_loss(dataset, name, original)
        if name != "plain":
            check_masks(dataset, name)
        stored = dataset.id.get_storage_size()
        print(f"{name}: {COUNT * dataset.dtype.itemsize} bytes in {stored}, {dataset.chunks}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "filtered.h5")
        subprocess.run([program, path], check=True)
        with h5py.File(path) as file:
            check(file["/data/3/meshes"])


if __name__ == "__main__":
    main(sys.argv[1])
