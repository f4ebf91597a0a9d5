"""HDF5's asynchronous calls on the library inside h5py: asynchronous_calls.py FILE LIMIT [ROWS [LAYOUT]].

LIMIT: largest size of a file in bytes; ROWS: number of writes of 16 MiB; LAYOUT: contiguous, chunked (allocated
early) or filtered.

h5py has no event sets, so ctypes calls them. It prints how many operations were inserted, whether H5Dwrite_async
returned before its data were in the file, what waiting found, and the final contents of the file.
"""

import ctypes
import glob
import pathlib
import resource
import signal
import sys

import h5py
import numpy as np

FOREVER = ctypes.c_uint64(2**64 - 1)
ID = ctypes.c_int64


class ErrorInfo(ctypes.Structure):
    """H5ES_err_info_t."""

    _fields_ = [("api_name", ctypes.c_char_p), ("api_args", ctypes.c_char_p), ("app_file_name", ctypes.c_char_p),
                ("app_func_name", ctypes.c_char_p), ("app_line_num", ctypes.c_uint),
                ("op_ins_count", ctypes.c_uint64), ("op_ins_ts", ctypes.c_uint64), ("op_exec_ts", ctypes.c_uint64),
                ("op_exec_time", ctypes.c_uint64), ("err_stack_id", ID)]


def library() -> ctypes.CDLL:
    folder = pathlib.Path(h5py.__file__).parent.parent / "h5py.libs"
    found = [name for name in glob.glob(str(folder / "libhdf5-*.so*"))]
    hdf5 = ctypes.CDLL(found[0])
    hdf5.H5EScreate.restype = ID
    hdf5.H5Dwrite_async.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint, ID, ID, ID, ID, ID,
                                    ctypes.c_void_p, ID]
    hdf5.H5ESwait.argtypes = [ID, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    hdf5.H5ESget_err_info.argtypes = [ID, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    for name in ("H5ESget_count", "H5ESget_err_status", "H5ESget_err_count", "H5ESclose"):
        getattr(hdf5, name).argtypes = [ID] + ([] if name == "H5ESclose" else [ctypes.c_void_p])
    hdf5.H5Eprint2.argtypes = [ID, ctypes.c_void_p]
    hdf5.H5Eclose_stack.argtypes = [ID]
    return hdf5


def make(file: h5py.File, rows: int, columns: int, layout: str) -> h5py.Dataset:
    if layout == "contiguous":
        return file.create_dataset("x", (rows, columns), "f8")
    if layout == "filtered":
        return file.create_dataset("x", (rows, columns), "f8", chunks=(1, columns // 2), shuffle=True, compression=1)
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((1, columns // 2))
    made.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((rows, columns))
    return h5py.Dataset(h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F64LE, space, made))


def main(name: str, limit: int, rows: int = 64, layout: str = "contiguous") -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    hdf5 = library()
    events = hdf5.H5EScreate()
    file = h5py.File(name, "w")
    columns = (1 << 21) // rows
    data = make(file, rows, columns, layout)
    values = np.arange(rows * columns, dtype="f8").reshape(rows, columns)
    memory = h5py.h5s.create_simple((columns,))
    for row in range(rows):
        space = data.id.get_space()
        space.select_hyperslab((row, 0), (1, columns))
        if hdf5.H5Dwrite_async(b"program.py", b"main", row, data.id.id, h5py.h5t.NATIVE_DOUBLE.id, memory.id,
                               space.id, 0, values[row].ctypes.data, events) < 0:
            break  # an earlier one has failed
    count, progress, failed = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_bool()
    hdf5.H5ESget_count(events, ctypes.byref(count))
    print("inserted", count.value)
    hdf5.H5ESwait(events, FOREVER, ctypes.byref(progress), ctypes.byref(failed))
    print("in progress", progress.value, "failed", failed.value)
    if failed.value:
        number = ctypes.c_size_t()
        hdf5.H5ESget_err_count(events, ctypes.byref(number))
        info, cleared = ErrorInfo(), ctypes.c_size_t()
        hdf5.H5ESget_err_info(events, 1, ctypes.byref(info), ctypes.byref(cleared))
        print("errors", number.value >= 1, info.api_name.decode(), info.app_file_name.decode(), flush=True)
        hdf5.H5Eprint2(info.err_stack_id, None)
        hdf5.H5Eclose_stack(info.err_stack_id)
    else:
        print("whole", bool((data[()] == values).all()))
    hdf5.H5ESclose(events)
    try:
        file.close()
        print("closed")
    except (OSError, RuntimeError) as error:  # depending on whether the call concerns the dataset or the file
        print("close:", error)


main(sys.argv[1], *map(int, sys.argv[2:4]), *sys.argv[4:])
