#include "filter/codecs/fletcher32.hpp"

#include <algorithm>

namespace tailrace::impl {
namespace {

// Reduces the sum to 16 bits, modulo 65535; only 0 becomes 0.
uint64_t fold(uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

}  // namespace

uint32_t fletcher32(std::span<const std::byte> bytes) {
  constexpr size_t kAtOnce = size_t{1} << 16;  // so that nothing overflows
  uint64_t sum = 0;
  uint64_t sum_of_sums = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::min(at + kAtOnce, bytes.size());
    for (; at < end; at += 2) {
      const uint64_t low = at + 1 < bytes.size() ? static_cast<uint64_t>(bytes[at + 1]) : 0;
      sum += static_cast<uint64_t>(bytes[at]) << 8 | low;
      sum_of_sums += sum;
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  return static_cast<uint32_t>(sum_of_sums << 16 | sum);
}

}  // namespace tailrace::impl
