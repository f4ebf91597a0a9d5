"""PyTables, unmodified, with the HDF5 connector: it leaves the same files as without, and reads the same."""

import pytest
from hdf5.carried import PLACES, environment, python, without
from hdf5.same import assert_same

PROGRAM = """
import sys
import numpy, tables

class Particle(tables.IsDescription):
    name = tables.StringCol(16)
    energy = tables.Float64Col()
    position = tables.Float32Col(shape=(3,))

random = numpy.random.default_rng(5)
field = random.random((40, 50, 60))
with tables.open_file(sys.argv[1], "w", title="run") as file:
    group = file.create_group("/", "fields")
    whole = file.create_array(group, "whole", field, "contiguous")
    whole.attrs.unit = "K"
    whole[10:20, ::2] = -1.0
    for name, library in (("none", None), ("zlib", "zlib"), ("blosc", "blosc"), ("blosc2", "blosc2"), ("lzo", "lzo")):
        if library and not tables.which_lib_version(library):
            continue
        filters = tables.Filters(complevel=3, complib=library, fletcher32=name == "zlib") if library else None
        data = file.create_carray(group, name, tables.Float64Atom(), field.shape, filters=filters,
                                  chunkshape=(8, 50, 60))
        data[:] = field
        data[5:30, 3] = 2.0
        assert (data[8:16] == numpy.where(numpy.arange(50)[None, :, None] == 3, 2.0, field[8:16])).all()
    growing = file.create_earray("/", "growing", tables.Int32Atom(), (0, 1000), expectedrows=100)
    ragged = file.create_vlarray("/", "ragged", tables.Int64Atom())
    table = file.create_table("/", "particles", Particle, expectedrows=20000)
    for step in range(10):
        growing.append(numpy.full((20, 1000), step))
        ragged.append(numpy.arange(step))
        rows = numpy.zeros(2000, table.dtype)
        rows["name"] = b"p%d" % step
        rows["energy"] = random.random(2000)
        table.append(rows)
        if step == 5:
            file.flush()
    table.cols.energy.create_index()
    table.modify_column(0, 100, column=numpy.full(100, 2.0), colname="energy")
    print(len(table.read_where("energy > 0.9")), whole[:].sum(), growing[-1].sum())
with tables.open_file(sys.argv[1], "a") as file:
    file.copy_node("/fields/whole", "/", "copied")
    file.rename_node("/growing", "grown")
    file.root.fields.whole[0] = 3.0
    file.remove_node("/fields/none")
    file.root.particles.remove_rows(100, 200)
    print(file.root.fields.whole[:].sum(), file.root.copied[:].sum(), len(file.root.particles))
    for leaf in file.walk_nodes("/", "Leaf"):
        print(leaf._v_pathname, numpy.sum([len(row) for row in leaf]) if leaf.name == "ragged" else leaf.shape)
"""


@pytest.mark.parametrize("place", PLACES)
def test_pytables_leaves_the_same(tmp_path, place):
    pytest.importorskip("tables")
    plain = python(PROGRAM, tmp_path / "plain.h5", env=without(tmp_path))
    assert python(PROGRAM, tmp_path / "ours.h5", env=environment(tmp_path, place)) == plain
    assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")
