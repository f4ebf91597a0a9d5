"""HDF5 reuses free space at once. Data on their way to space that a call frees must have arrived before."""

import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
from conftest import REPOSITORY
from hdf5.carried import PLACES, environment, python, without

HEADERS = REPOSITORY / ".deps/hdf5/include"

# Every callback of a connector, and every operation of those that have several, by which HDF5 may free space that had
# data of a dataset, and the provocation (below) that shows it.
FREES = {
    "dataset.close": "close_dataset",
    "group.close": "close_group",
    "H5VL_LINK_DELETE": "delete_link",
    "H5VL_OBJECT_CHANGE_REF_COUNT": "decrease_count",
    "H5VL_DATASET_SET_EXTENT": "shrink",
    "H5VL_DATASET_REFRESH": "refresh_dataset",
    "H5VL_GROUP_REFRESH": "refresh_group",
    "H5VL_OBJECT_REFRESH": "refresh_object",
}

# The others, by reason.
FREES_NOTHING = {
    "only opens, looks, or counts": """
        attr.open attr.read attr.get dataset.open dataset.read dataset.get datatype.open datatype.get file.open
        file.get group.open group.get link.get object.open object.get blob.get token.cmp token.to_str token.from_str
        introspect.get_conn_cls introspect.get_cap_flags introspect.opt_query wrap.get_object wrap.get_wrap_ctx
        wrap.wrap_object wrap.unwrap_object wrap.free_wrap_ctx info.copy info.cmp info.free info.to_str info.from_str
        request.wait request.notify request.cancel request.specific request.optional request.free
        H5VL_ATTR_EXISTS H5VL_ATTR_ITER H5VL_LINK_EXISTS H5VL_LINK_ITER H5VL_OBJECT_EXISTS H5VL_OBJECT_LOOKUP
        H5VL_OBJECT_VISIT H5VL_FILE_REOPEN H5VL_FILE_IS_ACCESSIBLE H5VL_FILE_IS_EQUAL H5VL_BLOB_ISNULL
        H5VL_REQUEST_GET_ERR_STACK H5VL_REQUEST_GET_EXEC_TIME H5VL_NATIVE_ATTR_ITERATE_OLD
        H5VL_NATIVE_DATASET_GET_CHUNK_INDEX_TYPE H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE
        H5VL_NATIVE_DATASET_GET_NUM_CHUNKS H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_IDX
        H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD H5VL_NATIVE_DATASET_CHUNK_READ
        H5VL_NATIVE_DATASET_GET_VLEN_BUF_SIZE H5VL_NATIVE_DATASET_GET_OFFSET H5VL_NATIVE_DATASET_CHUNK_ITER
        H5VL_NATIVE_GROUP_ITERATE_OLD H5VL_NATIVE_GROUP_GET_OBJINFO H5VL_NATIVE_OBJECT_GET_COMMENT
        H5VL_NATIVE_OBJECT_GET_NATIVE_INFO""",
    "only adds": """
        attr.create dataset.create datatype.commit file.create group.create link.create link.copy blob.put
        H5VL_LINK_CREATE_HARD H5VL_LINK_CREATE_SOFT H5VL_LINK_CREATE_UD""",
    "frees metadata or a heap's objects alone, which are never on their way": """
        attr.write attr.close datatype.close link.move H5VL_ATTR_DELETE H5VL_ATTR_DELETE_BY_IDX H5VL_ATTR_RENAME
        H5VL_BLOB_DELETE H5VL_BLOB_SETNULL H5VL_NATIVE_OBJECT_SET_COMMENT H5VL_NATIVE_DATASET_FORMAT_CONVERT
        H5VL_DATATYPE_FLUSH H5VL_DATATYPE_REFRESH H5VL_DATASET_FLUSH H5VL_GROUP_FLUSH H5VL_OBJECT_FLUSH""",
    "replaces chunks that HDF5 itself has written": "dataset.write H5VL_NATIVE_DATASET_CHUNK_WRITE",
    "waits for all data on their way": """
        object.copy file.close H5VL_FILE_FLUSH H5VL_FILE_DELETE H5VL_NATIVE_FILE_CLEAR_ELINK_CACHE
        H5VL_NATIVE_FILE_GET_FILE_IMAGE H5VL_NATIVE_FILE_GET_FREE_SECTIONS H5VL_NATIVE_FILE_GET_FREE_SPACE
        H5VL_NATIVE_FILE_GET_INFO H5VL_NATIVE_FILE_GET_MDC_CONF H5VL_NATIVE_FILE_GET_MDC_HR
        H5VL_NATIVE_FILE_GET_MDC_SIZE H5VL_NATIVE_FILE_GET_SIZE H5VL_NATIVE_FILE_GET_VFD_HANDLE
        H5VL_NATIVE_FILE_RESET_MDC_HIT_RATE H5VL_NATIVE_FILE_SET_MDC_CONFIG
        H5VL_NATIVE_FILE_GET_METADATA_READ_RETRY_INFO H5VL_NATIVE_FILE_START_SWMR_WRITE
        H5VL_NATIVE_FILE_START_MDC_LOGGING H5VL_NATIVE_FILE_STOP_MDC_LOGGING
        H5VL_NATIVE_FILE_GET_MDC_LOGGING_STATUS
        H5VL_NATIVE_FILE_FORMAT_CONVERT H5VL_NATIVE_FILE_RESET_PAGE_BUFFERING_STATS
        H5VL_NATIVE_FILE_GET_PAGE_BUFFERING_STATS H5VL_NATIVE_FILE_GET_MDC_IMAGE_INFO H5VL_NATIVE_FILE_GET_EOA
        H5VL_NATIVE_FILE_INCR_FILESIZE H5VL_NATIVE_FILE_SET_LIBVER_BOUNDS H5VL_NATIVE_FILE_GET_MIN_DSET_OHDR_FLAG
        H5VL_NATIVE_FILE_SET_MIN_DSET_OHDR_FLAG H5VL_NATIVE_FILE_GET_MPI_ATOMICITY
        H5VL_NATIVE_FILE_SET_MPI_ATOMICITY H5VL_NATIVE_FILE_POST_OPEN""",
    "opens and closes other files, whose own closes wait": "H5VL_GROUP_MOUNT H5VL_GROUP_UNMOUNT",
    "changes when metadata are written": """
        H5VL_NATIVE_OBJECT_DISABLE_MDC_FLUSHES H5VL_NATIVE_OBJECT_ENABLE_MDC_FLUSHES
        H5VL_NATIVE_OBJECT_ARE_MDC_FLUSHES_DISABLED""",
    "does what its operation says, which is listed by itself": """
        attr.specific attr.optional dataset.specific dataset.optional datatype.specific datatype.optional
        file.specific file.optional group.specific group.optional link.specific link.optional object.specific
        object.optional
        blob.specific blob.optional""",
}

# After each provocation, space that had 1s of a carried dataset belongs to one of strings, which HDF5 writes at once.
# Prints what is wrong then.
PROGRAM = """
import ctypes, os, sys
import h5py
import numpy as np
from h5py import h5d, h5g, h5p, h5s, h5t

COUNT = 4 << 20
ONES = np.ones(COUNT)
TEXT = np.full(COUNT, b"abcdefgh")
library = next(line.split()[-1] for line in open("/proc/self/maps") if "libhdf5-" in line)
hdf5 = ctypes.CDLL(library)

def call(function, thing):  # one that h5py lacks
    assert getattr(hdf5, function)(ctypes.c_int64(thing.id.id)) >= 0

def data(place, name="x"):
    return place.create_dataset(name, (COUNT,), "f8")

def data_without_name(file):
    return h5py.Dataset(h5d.create(file.id, None, h5t.IEEE_F64LE, h5s.create_simple((COUNT,))))

def unlinked_group(file):
    group = file.create_group("g")
    one = data(group)
    del file["g"]
    one[:] = ONES
    return group

def close_dataset(file):
    one = data(file)
    del file["x"]
    one[:] = ONES

def close_dataset_without_name(file):
    data_without_name(file)[:] = ONES

def close_group(file):
    unlinked_group(file)

def close_inner_group(file):
    inner = file.create_group("outer/inner")
    one = data(inner.create_group("c/d"))
    del file["outer"]
    one[:] = ONES
    del one

def close_group_without_name(file):
    group = h5py.Group(h5g.create(file.id, None))
    data(group)[:] = ONES

def delete_link(file):
    data(file)[:] = ONES
    del file["x"]

def delete_group(file):
    data(file.create_group("g"))[:] = ONES
    del file["g"]

def decrease_count(file):
    group = file.create_group("g")
    call("H5Oincr_refcount", group)
    one = data(group)
    del file["g"]
    one[:] = ONES
    del one
    call("H5Odecr_refcount", group)

def shrink(file):
    early = h5p.create(h5p.DATASET_CREATE)
    early.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    one = file.create_dataset("x", (COUNT,), "f8", chunks=(1 << 20,), maxshape=(None,), dcpl=early)
    one[:] = ONES
    one.resize((0,))

def refresh_dataset(file):
    one = data(file)
    one[:] = ONES
    one.id.refresh()
    del file["x"]

def refresh_group(file):
    call("H5Grefresh", unlinked_group(file))

def refresh_object(file):
    call("H5Orefresh", unlinked_group(file))

for name in sys.argv[2:]:
    path = f"{sys.argv[1]}/{name}.h5"
    with h5py.File(path, "w") as file:
        globals()[name](file)
        text = file.create_dataset("text", (COUNT,), "S8")
        text[:] = TEXT
        file.flush()
        if not (text[:] == TEXT).all():
            print(name, "wrote later than it freed")
    if os.path.getsize(path) > 12 * COUNT:
        print(name, "freed nothing")
    os.remove(path)
"""

PROVOCATIONS = re.findall(r"^def (\w+)\(file\):", PROGRAM, re.MULTILINE)[2:]


@pytest.mark.parametrize("place", PLACES)
def test_data_arrive_before_their_space_is_another_datasets(tmp_path, place):
    assert python(PROGRAM, tmp_path, *PROVOCATIONS, env=environment(tmp_path, place, budget="64MiB")) == ""


# Deletes "old", which is complete, while "new" is on its way.
DELETES = """
import signal
import sys
import h5py
import numpy as np

signal.alarm(100)
with h5py.File(sys.argv[1], "r+") as file:
    file["new"] = np.ones(1 << 20)
    del file["old"]
    print("deleted", flush=True)
    for name in ("nothing", "group/nothing", "nowhere/nothing"):
        try:
            del file[name]
        except KeyError as error:
            print(error)
"""


def test_a_deletion_waits_only_for_the_space_that_it_frees(tmp_path, gates):
    ones = np.ones(1 << 20)
    for name in ("plain.h5", "carried.h5"):
        with h5py.File(tmp_path / name, "w") as file:
            file["old"] = ones
            file.create_group("group")
    plain = python(DELETES, tmp_path / "plain.h5", env=without(tmp_path))
    config = tmp_path / "posix.yaml"
    config.write_text("tailrace: 1\nname: hdf5\nplace: {kind: thread}\nstorage: {path: out, backend: posix}\n"
                      "memory: {budget: 64 MiB}\n")
    gate = gates("carried.h5 write")
    added = {**environment(tmp_path, config=config), **gate.environment}
    with subprocess.Popen([sys.executable, "-c", DELETES, tmp_path / "carried.h5"], env=added,
                          stdout=subprocess.PIPE, text=True) as program:
        gate.wait()
        said = ""
        while not said.endswith("deleted\n") and (line := program.stdout.readline()):
            said += line
        gate.let_go()
        said += program.stdout.read()
        assert program.wait() == 0, "SIGALRM: the deletion waits for what is held"
    assert said == plain
    with h5py.File(tmp_path / "carried.h5") as file:
        assert list(file) == ["group", "new"] and (file["new"][:] == ones).all()


def names_in(header):
    """Returns the callbacks that it declares, as "dataset.close", and the operations of those that have several."""
    text = re.sub(r"/\*.*?\*/", "", (HEADERS / header).read_text(), flags=re.DOTALL)
    callbacks = {f"{kind}.{name}" for kind, body in re.findall(r"typedef struct H5VL_(\w+)_class_t \{(.*?)\n\}", text,
                                                               re.DOTALL)
                 for name in re.findall(r"\(\*(\w+)\)", body)}
    operations = {name for _, body in re.findall(r"typedef enum H5VL_(\w+_specific|link_create)_t \{(.*?)\}", text,
                                                 re.DOTALL)
                  for name in re.findall(r"\bH5VL_[A-Z_]+\b", body)}
    native = set(re.findall(r"#define (H5VL_NATIVE_[A-Z]+_\w+)\s+\d", text))
    return callbacks | operations | native


def test_every_call_that_may_free_space_is_listed():
    listed = list(FREES)
    for names in FREES_NOTHING.values():
        listed += names.split()
    assert len(listed) == len(set(listed))
    assert set(listed) == names_in("H5VLconnector.h") | names_in("H5VLnative.h")
    assert set(FREES.values()) <= set(PROVOCATIONS)
