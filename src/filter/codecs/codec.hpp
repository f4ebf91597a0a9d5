// Codec: the port of compressors. An object compresses buffers in one way (deflate at one level, …), and reuses its
// work memory.
//
// It writes streams that HDF5's filters of the same names read, and knows neither HDF5 nor files. The server and the
// HDF5 connector both compress with it. One thread at a time.
#pragma once

#include <cstddef>
#include <span>

namespace tailrace::impl {

class Codec {
 public:
  virtual ~Codec() = default;

  // Returns the bytes of `to` that compress() can use for `size` bytes. This is more than `size` if the compressor
  // may slightly enlarge incompressible bytes.
  virtual size_t room_for(size_t size) const = 0;
  // Returns the bytes written to `to`, which does not overlap `from`; 0 if they do not fit into it or the compressor
  // fails.
  virtual size_t compress(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  // Decompresses `from` into `to`. Returns true if `from` was a whole stream of exactly to.size() bytes. Accepts any
  // bytes. The first call allocates the necessary memory, so that users that only compress have none.
  virtual bool decompress(std::span<const std::byte> from, std::span<std::byte> to) = 0;
};

}  // namespace tailrace::impl
