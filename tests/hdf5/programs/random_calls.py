"""A random program of HDF5 calls by h5py: random_calls.py SEED FILE.

Prints a digest of everything that it read, and how many bytes of data it deleted.

With and without the connector it must read the same and leave equal files. Its arrays are too large to be left to
HDF5, except for some that are meant to be.
"""

import hashlib
import sys

import h5py
import numpy as np

TYPES = ["f4", "f8", "i4", "i8", "u1", ">f8", ">i4", "f2"]


def placed_early() -> h5py.h5p.PropDCID:
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    return made


class Program:
    def __init__(self, seed: int, name: str) -> None:
        self.random = np.random.default_rng(seed)
        self.name = name
        self.digest = hashlib.sha256()
        self.file = h5py.File(name, "w")
        self.names: list[str] = []
        self.made = 0
        self.deleted = 0
        self.deletes = self.random.random() < 0.5
        # Bytes that HDF5 has never written, in space of a former dataset or chunk, are undefined, and differ between
        # runs. So once space may be free, datasets without chunks are filled.
        self.frees = self.deletes

    def step(self) -> None:
        kinds = [self.create, self.write, self.write, self.write, self.write, self.read, self.read, self.attribute,
                 self.flush, self.reopen, self.delete, self.copy, self.alike, self.points, self.resize, self.chunks]
        kinds[self.random.integers(len(kinds))]()

    def create(self) -> None:
        name = f"group{self.random.integers(3)}/data{self.number()}"
        rank = self.random.integers(1, 4)
        shape = tuple(int(n) for n in self.random.integers(4, [40000, 300, 50][rank - 1], rank))
        more = [{}, {}, {}, {"fillvalue": 7}, {"fillvalue": 3}, {"chunks": True},
                {"chunks": True, "compression": "gzip"}, {"maxshape": (None,) * rank},
                {"chunks": self.some_chunk(shape), "compression": "gzip", "shuffle": True, "fillvalue": 2},
                {"chunks": self.some_chunk(shape), "compression": 1, "maxshape": (None,) * rank},
                {"chunks": self.some_chunk(shape), "shuffle": True},
                {"chunks": self.some_chunk(shape), "compression": "lzf", "maxshape": (None,) * rank},
                {"chunks": self.some_chunk(shape), "compression": "lzf", "shuffle": True, "fletcher32": True},
                {"chunks": self.some_chunk(shape), "compression": "szip", "compression_opts": ("ec", 2)},
                {"chunks": self.some_chunk(shape), "compression": "szip", "compression_opts": ("nn", 4),
                 "shuffle": True, "maxshape": (None,) * rank},
                {"chunks": self.some_chunk(shape), "dcpl": placed_early()},
                {"chunks": self.some_chunk(shape), "dcpl": placed_early(), "maxshape": (None,) * rank},
                {"chunks": self.some_chunk(shape), "dcpl": placed_early(), "maxshape": (None, *shape[1:])},
                {"chunks": self.some_chunk(shape), "dcpl": placed_early(), "fillvalue": 9}]
        more = more[self.random.integers(len(more))]
        data = self.file.create_dataset(name, shape, self.random.choice(TYPES), **more)
        self.frees |= bool(data.chunks)
        if self.frees and not data.chunks:
            data[()] = self.values(shape)
        self.names.append(name)

    def some_chunk(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(self.random.integers(1 + length // 4, length + 1)) for length in shape)

    def number(self) -> int:
        self.made += 1
        return self.made

    def some(self) -> h5py.Dataset | None:
        return self.file[self.names[self.random.integers(len(self.names))]] if self.names else None

    def selection(self, shape: tuple[int, ...]) -> tuple[slice, ...]:
        parts = []
        for length in shape:
            begin, end = sorted(int(n) for n in self.random.integers(0, length + 1, 2))
            parts.append(slice(begin, end, int(self.random.integers(1, 4))))
        return tuple(parts) if self.random.random() < 0.7 else ()

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        values = self.random.integers(0, 100, shape).astype(self.random.choice(["f8", "f4", "i4", "i8"]))
        # Sometimes with gaps in memory, too.
        return values.T.copy().T if self.random.random() < 0.3 else values

    def write(self) -> None:
        data = self.some()
        if data is not None:
            where = self.selection(data.shape)
            data[where] = self.values(np.empty(data.shape, "u1")[where].shape)

    def points(self) -> None:
        data = self.some()
        if data is not None and data.ndim == 1:
            where = np.unique(self.random.integers(0, len(data), 20))
            data[where] = self.values(where.shape)

    def resize(self) -> None:
        data = self.some()
        if data is not None and data.chunks and None in data.maxshape:
            before = data.nbytes
            data.resize([int(self.random.integers(1, 1 + min(2 * length, most or 2 * length)))
                         for length, most in zip(data.shape, data.maxshape)])
            self.deleted += max(0, before - data.nbytes)

    def chunks(self) -> None:
        """Whole chunks, and what HDF5 reports about them."""
        data = self.some()
        if data is None or not data.chunks:
            return
        where = []
        for length, chunk in zip(data.shape, data.chunks):
            first, last = sorted(int(n) for n in self.random.integers(0, -(-length // chunk), 2))
            where.append(slice(first * chunk, min((last + 1) * chunk, length)))
        data[tuple(where)] = self.values(np.empty(data.shape, "u1")[tuple(where)].shape)
        # lzf's output for the same bytes varies, and libdeflate's differs from zlib's.
        if self.random.random() < 0.3 and data.compression not in ("lzf", "gzip"):
            self.digest.update(str(data.id.get_storage_size()).encode())

    def read(self) -> None:
        data = self.some()
        if data is not None:
            self.digest.update(data[self.selection(data.shape)].tobytes())

    def attribute(self) -> None:
        data = self.some()
        if data is not None:
            data.attrs[f"a{self.random.integers(4)}"] = self.random.integers(0, 9, 3)

    def flush(self) -> None:
        self.file.flush()

    def reopen(self) -> None:
        self.file.close()
        self.file = h5py.File(self.name, "r+")

    def delete(self) -> None:
        if self.deletes and len(self.names) > 3:
            name = self.names.pop(self.random.integers(len(self.names)))
            self.deleted += self.file[name].nbytes
            del self.file[name]

    def copy(self) -> None:
        data = self.some()
        if data is not None:
            name = f"copy{self.number()}"
            self.file.copy(data, self.file, name=name)
            self.names.append(name)

    def alike(self) -> None:
        """A dataset with another's creation properties that is never written."""
        data = self.some()
        if data is not None:
            made = data.id.get_create_plist()
            like = h5py.Dataset(h5py.h5d.create(self.file.id, f"alike{self.number()}".encode(), data.id.get_type(),
                                                data.id.get_space(), made))
            said = made.get_fill_time(), made.get_alloc_time(), like.id.get_storage_size()
            self.digest.update(str(said).encode())
            self.digest.update(like[()].tobytes())


def main() -> None:
    program = Program(int(sys.argv[1]), sys.argv[2])
    program.create()
    for _ in range(60):
        program.step()
    program.file.close()
    with h5py.File(sys.argv[2]) as file:
        for name in program.names:
            program.digest.update(file[name][()].tobytes())
    print(program.digest.hexdigest(), program.deleted)


main()
