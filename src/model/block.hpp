// Block: ⟨variable, iteration, source, layout⟩, without its bytes. The noun of the data level.
#pragma once

#include <cstdint>

namespace tailrace::impl {

struct Block {
  uint32_t variable = 0;  // index into Config::variables; its layout follows from it
  int64_t iteration = 0;
  int source = 0;  // client that it comes from
};

}  // namespace tailrace::impl
