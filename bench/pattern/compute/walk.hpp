// The memory that the kernel `walk` walks over: nodes of a cache line, each naming the next.
//
// Apart from the kernel, so that a test can look at the way.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

struct alignas(64) Node {
  uint64_t next;
};

// Links the nodes into one cycle through all of them, in random order, the same for the same seed.
void link_randomly(std::span<Node> nodes, uint64_t seed);

}  // namespace bench
