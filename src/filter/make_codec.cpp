#include "filter/make_codec.hpp"

#include "base/assert.hpp"
#include "filter/codecs/deflate.hpp"
#include "filter/codecs/zstd.hpp"

namespace tailrace::impl {

std::unique_ptr<Codec> make_codec(Compressor compressor, int level) {
  switch (compressor) {
    case Compressor::deflate: return std::make_unique<Deflate>(level);
    case Compressor::zstd: return std::make_unique<Zstd>(level);
    case Compressor::none: break;
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
