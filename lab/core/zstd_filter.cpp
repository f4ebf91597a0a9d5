#include "lab/core/zstd_filter.hpp"

#include <hdf5.h>
#include <zstd.h>

#include <cstdlib>

#include "lab/pattern/errors.hpp"

namespace bench::core {
namespace {

// Replaces HDF5's buffer by `made`; returns 0 to report a failure to HDF5.
size_t give(void* made, size_t size, size_t room, size_t* buffer_size, void** buffer) {
  if (ZSTD_isError(size) != 0) {
    std::free(made);
    return 0;
  }
  std::free(*buffer);
  *buffer = made;
  *buffer_size = room;
  return size;
}

// An H5Z_func_t: `values` has the level; it replaces the chunk's bytes by the filtered ones.
size_t zstd(unsigned flags, size_t count, const unsigned* values, size_t bytes, size_t* buffer_size, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) != 0) {
    const unsigned long long room = ZSTD_getFrameContentSize(*buffer, bytes);
    if (room == ZSTD_CONTENTSIZE_UNKNOWN || room == ZSTD_CONTENTSIZE_ERROR) return 0;
    void* const made = std::malloc(room);
    if (made == nullptr) return 0;
    return give(made, ZSTD_decompress(made, room, *buffer, bytes), room, buffer_size, buffer);
  }
  const size_t room = ZSTD_compressBound(bytes);
  void* const made = std::malloc(room);
  if (made == nullptr) return 0;
  const int level = count > 0 ? static_cast<int>(values[0]) : ZSTD_CLEVEL_DEFAULT;
  return give(made, ZSTD_compress(made, room, *buffer, bytes, level), room, buffer_size, buffer);
}

}  // namespace

void register_zstd_filter() {
  static const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, kZstdFilter, 1, 1, "zstd", nullptr, nullptr, zstd};
  if (H5Zregister(&filter) < 0) throw RunError("HDF5 does not take the zstd filter");
}

}  // namespace bench::core
