"""Complex numbers, bfloat16 and floats of 8 bits, which HDF5 has from 2.0 on: written, read and converted as without
the connector, and refused in the same words."""

import subprocess
import sys

import h5py
import pytest
from hdf5.carried import PLACES, environment, python, without
from hdf5.same import assert_same

pytestmark = pytest.mark.skipif(h5py.version.hdf5_version_tuple < (2,), reason="h5py has an HDF5 before 2.0")

# Each type in a file, in each layout, written and read as each type in memory. What HDF5 cannot convert it refuses.
PROGRAM = """
import itertools, sys
import h5py, numpy
from h5py import h5d, h5p, h5s, h5t

def float_of(size, fields, bias):
    made = h5t.IEEE_F32LE.copy()
    made.set_fields(*fields)
    made.set_size(size)
    made.set_ebias(bias)
    return made

def compound(part):
    made = h5t.create(h5t.COMPOUND, 2 * part.get_size())
    made.insert(b"r", 0, part)
    made.insert(b"i", part.get_size(), part)
    return made

TYPES = {
    "complex64": h5t.COMPLEX_IEEE_F32LE, "complex128": h5t.COMPLEX_IEEE_F64LE, "swapped": h5t.COMPLEX_IEEE_F64BE,
    "bfloat16": float_of(2, (15, 7, 8, 0, 7), 127), "e4m3": float_of(1, (7, 3, 4, 0, 3), 7),
    "e5m2": float_of(1, (7, 2, 5, 0, 2), 15), "float": h5t.IEEE_F32LE, "double": h5t.IEEE_F64LE,
    "int": h5t.STD_I32LE, "bits": h5t.STD_B32LE, "enum": h5t.enum_create(h5t.STD_I32LE),
    "compound": compound(h5t.IEEE_F32LE), "array": h5t.array_create(h5t.IEEE_F64LE, (2,))}
for number in range(15):
    TYPES["enum"].enum_insert(b"of%d" % number, number)
FILLS = {"complex64": numpy.array(3 + 4j, "<c8"), "swapped": numpy.array(3 + 4j, ">c16"), "double": numpy.array(3.0)}
ELEMENTS = 20000
SMALL = numpy.arange(ELEMENTS) % 15

def values_as(kind):
    if "complex" in kind or kind in ("swapped", "compound", "array"):
        part = {"complex64": "<f4", "compound": "<f4", "swapped": ">f8"}.get(kind, "<f8")
        return numpy.stack([SMALL, -SMALL], axis=1).astype(part)
    if kind in ("float", "double", "int", "bits", "enum"):
        return SMALL.astype({"float": "<f4", "double": "<f8"}.get(kind, "<i4"))
    raw = numpy.empty(ELEMENTS * TYPES[kind].get_size(), "u1")  # any bits
    raw[...] = numpy.arange(raw.size) % 113
    return raw

def properties(layout, kind):
    made = h5p.create(h5p.DATASET_CREATE)
    if layout == "filled" and kind in FILLS:
        made.set_fill_value(FILLS[kind])
    if layout in ("chunks", "early"):
        made.set_chunk((ELEMENTS // 4,))
    if layout == "chunks":
        made.set_shuffle()
        made.set_deflate(1)
    if layout == "early":
        made.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    return made

def attempt(what, call):
    try:
        call()
    except Exception as error:
        print(what, type(error).__name__, error)
        return False
    return True

with h5py.File(sys.argv[1], "w") as file:
    for layout, (kind, of), (memory, its) in itertools.product(
            ("contiguous", "filled", "chunks", "early"), TYPES.items(), TYPES.items()):
        name = f"{layout}-{kind}-{memory}"
        space = h5s.create_simple((ELEMENTS,))
        data = h5d.create(file.id, name.encode(), of, space, properties(layout, kind))
        values = values_as(memory)
        part = space.copy()
        part.select_hyperslab((ELEMENTS // 4,), (ELEMENTS // 2,))
        first = h5s.create_simple((ELEMENTS,))
        first.select_hyperslab((0,), (ELEMENTS // 2,))
        attempt(name, lambda: data.write(h5s.ALL, h5s.ALL, values, its) if layout != "filled"
                else data.write(first, part, values, its))
        found = numpy.zeros_like(values)
        if attempt(name, lambda: data.read(first, part, found, its)):
            print(name, hash(found.tobytes()))
    for (kind, of), (memory, its) in itertools.product(TYPES.items(), TYPES.items()):
        attribute = h5py.h5a.create(file.id, f"{kind}-{memory}".encode(), of, h5s.create_simple((20,)))
        values = values_as(memory)
        found = numpy.zeros_like(values)
        if attempt("attribute", lambda: attribute.write(values, its)):
            attempt("attribute", lambda: attribute.read(found, its))
        print(kind, memory, hash(found.tobytes()))
    TYPES["complex64"].copy().commit(file.id, b"named")
"""


def test_they_are_written_read_converted_and_refused_the_same(tmp_path):
    said = {}
    for name, env in ("plain", without(tmp_path)), *((place, environment(tmp_path, place)) for place in PLACES):
        said[name] = python(PROGRAM, tmp_path / f"{name}.h5", env={**env, "PYTHONHASHSEED": "1"})
    assert said["plain"].count("\n") > 500 and "no appropriate function" in said["plain"]
    for place in PLACES:
        assert said[place] == said["plain"]
        assert_same(tmp_path / "plain.h5", tmp_path / f"{place}.h5")


CARRIED = """
import sys
import h5py, numpy
from h5py import h5d, h5p, h5s, h5t
with h5py.File(sys.argv[1], "w") as file:
    for of, fill in (h5t.COMPLEX_IEEE_F64LE, "<c16"), (h5t.COMPLEX_IEEE_F32LE, "<c8"):
        made = h5p.create(h5p.DATASET_CREATE)
        made.set_fill_value(numpy.array(3 + 4j, fill))
        data = h5d.create(file.id, fill.encode(), of, h5s.create_simple((1 << 18,)), made)
        some = h5s.create_simple((1 << 18,))
        some.select_hyperslab((0,), (1 << 17,))
        data.write(some, some, numpy.arange(1 << 18, dtype="c16"), h5t.COMPLEX_IEEE_F64LE)
"""


@pytest.mark.parametrize("place", PLACES)
def test_complex_numbers_are_carried_with_fill_value_and_conversion(tmp_path, place):
    python(CARRIED, tmp_path / "plain.h5", env=without(tmp_path))
    env = environment(tmp_path, place)
    env["HDF5_VOL_CONNECTOR"] += " summary"
    done = subprocess.run([sys.executable, "-c", CARRIED, str(tmp_path / "ours.h5")], env=env, capture_output=True,
                          text=True, timeout=600, check=True)
    assert "tailrace: 2 writes of HDF5 data" in done.stderr
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")
