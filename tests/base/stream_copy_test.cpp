// stream_copy: it copies the same bytes as memcpy, and no others, in either order, for every size around its limits
// and any alignment of the source.
#include "base/memory/stream_copy.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

TEST(StreamCopy, CopiesWhatMemcpyCopies) {
  constexpr size_t kLargest = 2 * kStreamFrom;
  const std::unique_ptr<std::byte, Free> to(static_cast<std::byte*>(std::aligned_alloc(64, kLargest + 128)));
  std::vector<std::byte> from(kLargest + 64);
  for_seeds(200, [&](uint64_t seed) {
    Dice dice(seed);
    std::mt19937_64 random(seed);
    for (std::byte& byte : from) byte = static_cast<std::byte>(random() >> 56);
    const uint64_t around[] = {0, 64, 4096, kStreamFrom, kStreamFrom + 64, kLargest - 100};
    const size_t bytes = dice.chance(50) ? dice.below(kLargest) : around[dice.below(6)] + dice.below(100);
    const size_t shift = dice.below(64);
    std::memset(to.get(), 0x5a, kLargest + 128);
    stream_copy(to.get() + 64, from.data() + shift, bytes, dice.chance(50) ? CopyOrder::lines : CopyOrder::pages);
    EXPECT_EQ(std::memcmp(to.get() + 64, from.data() + shift, bytes), 0);
    EXPECT_EQ(to.get()[63], std::byte{0x5a});
    EXPECT_EQ(to.get()[64 + bytes], std::byte{0x5a});
  });
}

}  // namespace
}  // namespace tailrace::impl
