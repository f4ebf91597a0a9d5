// HeldBlock: a block whose bytes stay in a client's shared memory as long as actions need them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config.hpp"

namespace tailrace::impl {

struct HeldBlock {
  uint32_t variable = 0;  // index into Config::variables
  int64_t iteration = 0;
  int source = 0;        // client that it comes from
  uint32_t segment = 0;  // of that client, by the number that the runner was told
  uint64_t offset = 0;   // in the segment
  uint64_t length = 0;   // bytes
  uint64_t token = 0;    // the caller's own name for it
  // As it was handed over. Borrowed as long as the block is held.
  const Layout* layout = nullptr;
};

// For each variable: whether an action may get its blocks, so that they must be held.
std::vector<bool> held_variables(const Config& config);

}  // namespace tailrace::impl
