// Codec: the port of compressors. An object compresses buffer after buffer in one way (deflate at one level, …), and
// keeps its work memory for the next.
//
// Writes what HDF5's filters of the same names read, and knows neither HDF5 nor files. The server and the HDF5
// connector both compress by it. Not for two threads at a time.
#pragma once

#include <cstddef>
#include <span>

namespace tailrace::impl {

class Codec {
 public:
  virtual ~Codec() = default;

  // Bytes of `to` that compress() can make use of for `size` bytes: more than `size` if the compressor lets bytes
  // that do not get smaller get a little larger.
  virtual size_t room_for(size_t size) const = 0;
  // Bytes written to `to`, which does not overlap `from`; 0 if they do not fit into it, or if the compressor fails.
  virtual size_t compress(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  // Decompresses `from` into `to`. Returns true if `from` was a whole stream of exactly to.size() bytes. Takes any
  // bytes. The first call takes the memory that this needs, so that those who only compress have none.
  virtual bool decompress(std::span<const std::byte> from, std::span<std::byte> to) = 0;
};

}  // namespace tailrace::impl
