"""Memory that an asynchronous write lends is the program's again when the call has failed."""

import pytest
from hdf5.carried import environment, python

# One write cannot reach its file, which becomes known while nobody asks for it. A later call for that file then fails
# after it has lent memory, which the program overwrites at once.
PROGRAM = """
import ctypes, os, resource, signal, sys
import h5py, numpy as np
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
library = next(line.split()[-1] for line in open("/proc/self/maps") if "libhdf5-" in line)
hdf5 = ctypes.CDLL(library)
hdf5.H5EScreate.restype = ctypes.c_int64
COUNT = 4 << 20
SMALL = 1 << 16
files = [h5py.File(f"{sys.argv[1]}/{name}.h5", "w") for name in "ab"]
large = [file.create_dataset("large", (COUNT,), "f8") for file in files]
for each, file in zip(large, files):
    each[:] = np.zeros(COUNT)
    file.flush()
most = os.path.getsize(files[0].filename)
late = files[0].create_dataset("late", (SMALL,), "f8")
late[:] = np.zeros(SMALL)
files[0].flush()
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
late[:] = np.ones(SMALL)
files[1].flush()  # waits for all files
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
memory = [np.full(COUNT, 7.0) for _ in large]
events = ctypes.c_int64(hdf5.H5EScreate())
number = lambda: ctypes.c_int64(0)
if sys.argv[2] == "one":
    wrote = hdf5.H5Dwrite_async(b"", b"", ctypes.c_uint(1), ctypes.c_int64(large[0].id.id),
                                ctypes.c_int64(h5py.h5t.NATIVE_DOUBLE.id), number(), number(), number(),
                                memory[0].ctypes.data_as(ctypes.c_void_p), events)
else:
    order = (1, 0)
    many = lambda values: (ctypes.c_int64 * 2)(*values)
    pointers = (ctypes.c_void_p * 2)(*(memory[one].ctypes.data for one in order))
    wrote = hdf5.H5Dwrite_multi_async(b"", b"", ctypes.c_uint(1), ctypes.c_size_t(2),
                                      many([large[one].id.id for one in order]),
                                      many([h5py.h5t.NATIVE_DOUBLE.id] * 2), many([0, 0]), many([0, 0]), number(),
                                      pointers, events)
for each in memory:
    each[:] = -1.0
print(wrote, [bool((each[:] != -1.0).all()) for each in large])
for file in files:
    file.close()
"""


@pytest.mark.parametrize("way", ["one", "multi"])
def test_a_write_that_fails_reads_no_memory_afterwards(tmp_path, way):
    """In place thread: in place core memory is copied."""
    assert python(PROGRAM, tmp_path, way, env=environment(tmp_path, budget="64MiB")) == "-1 [True, True]\n"
