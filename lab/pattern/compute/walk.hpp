// The memory that the kernel `walk` walks through: nodes of one cache line, each naming the next.
//
// Separate from the kernel, so that a test can check the path.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

struct alignas(64) Node {
  uint64_t next;
};

// Links the nodes into one cycle through all of them, in random order, which the seed determines.
void link_randomly(std::span<Node> nodes, uint64_t seed);

}  // namespace bench
