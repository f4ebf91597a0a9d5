// Block: ⟨variable, iteration, source, layout⟩, without its bytes. The noun of the data level.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/variable.hpp"

namespace tailrace::impl {

// The layouts of a client at some moment, by index into Config::layouts.
using Layouts = std::vector<std::shared_ptr<const Layout>>;

struct Block {
  uint32_t variable = 0;  // index into Config::variables
  int64_t iteration = 0;
  int source = 0;                        // the client that it comes from
  std::shared_ptr<const Layout> layout;  // the layout that its client had at hand-over
  // All layouts that the client had then; only needed for a file that several nodes write, by the block that begins
  // the iteration.
  std::shared_ptr<const Layouts> layouts = {};
};

}  // namespace tailrace::impl
