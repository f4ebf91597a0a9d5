// Block: ⟨variable, iteration, source, layout⟩, without its bytes. The noun of the data level.
#pragma once

#include <cstdint>
#include <memory>

#include "model/config.hpp"

namespace tailrace::impl {

struct Block {
  uint32_t variable = 0;  // index into Config::variables
  int64_t iteration = 0;
  int source = 0;                        // the client that it comes from
  std::shared_ptr<const Layout> layout;  // the layout that its client had at hand-over
};

}  // namespace tailrace::impl
