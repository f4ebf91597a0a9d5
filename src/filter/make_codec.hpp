// make_codec: makes the codec that a configuration names.
#pragma once

#include <memory>

#include "filter/codecs/codec.hpp"
#include "model/variable.hpp"

namespace tailrace::impl {

// `compressor` is not `none`, and `level` is valid for it.
std::unique_ptr<Codec> make_codec(Compressor compressor, int level);

}  // namespace tailrace::impl
