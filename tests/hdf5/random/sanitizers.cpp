// Options of the address sanitizer for HDF5, which is not built with it. The sanitizer's library calls these.

// HDF5 has no frame pointers: without this the sanitizer does not know the origin of memory.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();

const char* __asan_default_options() { return "fast_unwind_on_malloc=0"; }

// HDF5 1.14.5 loses the memory space of some writes to chunks.
const char* __lsan_default_suppressions() { return "leak:H5D__piece_mem_cb\n"; }
