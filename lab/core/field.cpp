#include "lab/core/field.hpp"

#include <array>
#include <cmath>

namespace bench::core {
namespace {

constexpr size_t kRow = 512;    // numbers
constexpr size_t kPage = 1024;  // numbers

// Returns well-mixed bits of a number (the finaliser of SplitMix64).
uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

void fill(std::span<float> field, int process) {
  std::array<float, kRow> across{};
  for (size_t x = 0; x < kRow; ++x) across[x] = std::sin(0.02F * static_cast<float>(x));
  for (size_t i = 0; i < field.size(); ++i) {
    const size_t x = i % kRow;
    const float along = 0.5F + 0.0001F * static_cast<float>((i / kRow) % 4096);
    // The last five bits of a number near 2.
    const uint64_t last = mixed(i + 0x9e3779b97f4a7c15 * static_cast<uint64_t>(process)) % 32;
    field[i] = 2 + across[x] * along + 0x1p-22F * static_cast<float>(last);
  }
}

void mark(std::span<float> field, int process, int64_t iteration) {
  const uint64_t of = 1000003 * static_cast<uint64_t>(process) + 7919 * static_cast<uint64_t>(iteration);
  for (size_t i = 0; i < field.size(); i += kPage) field[i] = 1 + static_cast<float>(mixed(of + i) % 4096) / 4096;
}

}  // namespace bench::core
