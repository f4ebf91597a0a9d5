"""Compares two HDF5 files: objects, attributes, types, filters, chunks and values. It supports hdf5plugin's filters
if that is installed; h5diff does not."""

import contextlib

import h5py
import numpy as np

with contextlib.suppress(ImportError):
    import hdf5plugin  # noqa: F401  registers its filters


def assert_same(one, other):
    with h5py.File(one) as plain, h5py.File(other) as ours:
        names = names_in(plain)
        assert names_in(ours) == names and names
        for name in names:
            assert_same_attributes(plain[name].attrs, ours[name].attrs, name)
            if isinstance(plain[name], h5py.Dataset):
                assert_same_dataset(plain[name], ours[name])
        assert_same_attributes(plain.attrs, ours.attrs, "/")


def names_in(file):
    names = []
    file.visit(names.append)
    return names


def assert_same_attributes(plain, ours, name):
    assert dict(ours.items()).keys() == dict(plain.items()).keys(), name
    for attribute in plain:
        np.testing.assert_array_equal(ours[attribute], plain[attribute], err_msg=f"{name}@{attribute}")


def assert_same_dataset(plain, ours):
    assert ours.id.get_type() == plain.id.get_type() and ours.shape == plain.shape, plain.name
    assert filters(ours) == filters(plain) and ours.chunks == plain.chunks, plain.name
    assert chunks(ours) == chunks(plain), plain.name
    assert_same_values(ours[()], plain[()], plain.name)


def assert_same_values(ours, plain, name):
    if plain.dtype == object:  # of variable length
        for one, other in zip(ours.flat, plain.flat, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)
    else:
        np.testing.assert_array_equal(ours, plain, err_msg=name)


def filters(dataset):
    properties = dataset.id.get_create_plist()
    return [properties.get_filter(index) for index in range(properties.get_nfilters())]


def chunks(dataset):
    """Returns which chunks exist, and which filters were left out; lzf's output for the same bytes varies."""
    if dataset.chunks is None:
        return None
    stored = [dataset.id.get_chunk_info(index) for index in range(dataset.id.get_num_chunks())]
    masks = dataset.compression != "lzf"
    return sorted((chunk.chunk_offset, masks and chunk.filter_mask) for chunk in stored)
