// HeldBlock: a block whose bytes stay in a client's shared memory while actions need them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config/action.hpp"
#include "model/variable.hpp"

namespace tailrace::impl {

struct HeldBlock {
  uint32_t variable = 0;  // index into Declarations::variables
  int64_t iteration = 0;
  int source = 0;        // the client that it comes from
  uint32_t segment = 0;  // the client's segment, by the number given to the runner
  uint64_t offset = 0;   // in the segment
  uint64_t length = 0;   // bytes
  uint64_t token = 0;    // for the caller's use
  // The layout at hand-over. Borrowed while the block is held.
  const Layout* layout = nullptr;
};

// Returns, for each variable, true if an action may get its blocks, so that they must be held.
std::vector<bool> held_variables(size_t variables, const std::vector<Action>& actions);

}  // namespace tailrace::impl
