// Codec: one compressor, deflate (libdeflate) or zstd, with its work memory, for buffer after buffer.
//
// Writes what HDF5's filters of the same names read: a zlib stream, or a zstd frame that knows its size. Not for two
// threads at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "model/config.hpp"

namespace tailrace::impl {

class Codec {
 public:
  virtual ~Codec() = default;

  // Bytes written to `to`; 0 if they do not fit into it, or if the compressor has no memory.
  virtual size_t compress(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  // Decompresses `from` into `to`. Returns true if `from` was a whole stream of exactly to.size() bytes. Takes any
  // bytes.
  virtual bool decompress(std::span<const std::byte> from, std::span<std::byte> to) = 0;
};

// `compressor` is not `none`, and the level one that it has.
std::unique_ptr<Codec> make_codec(Compressor compressor, int level);

}  // namespace tailrace::impl
