#include "filter/chunking.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

uint64_t product(std::span<const uint64_t> extents) {
  uint64_t product = 1;
  for (const uint64_t extent : extents) product *= extent;
  return product;
}

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

}  // namespace

uint64_t Chunking::count() const { return product(counts); }

uint64_t Chunking::elements() const { return product(shape); }

std::vector<uint64_t> Chunking::corner(uint64_t index) const {
  TAILRACE_REQUIRE(index < count());
  std::vector<uint64_t> corner(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    corner[axis] = index % counts[axis] * shape[axis];
    index /= counts[axis];
  }
  return corner;
}

Chunking::Run Chunking::run(uint64_t index) const {
  const std::vector<uint64_t> at = corner(index);
  Run run{0, 1};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    run.first = run.first * block[axis] + at[axis];
    run.count *= std::min(shape[axis], block[axis] - at[axis]);
  }
  return run;
}

Chunking chunk_slabs(std::span<const uint64_t> shape, uint64_t target) {
  TAILRACE_REQUIRE(!shape.empty());
  TAILRACE_REQUIRE(target > 0);
  Chunking chunking;
  chunking.block.assign(shape.begin(), shape.end());
  if (product(shape) == 0) {
    chunking.shape.assign(shape.size(), 1);
    chunking.counts = chunking.block;
    return chunking;
  }
  chunking.shape = chunking.block;
  // Cuts axes to one element until the rest of the axes fits.
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const uint64_t behind = product(shape.subspan(axis + 1));
    if (behind > target) {
      chunking.shape[axis] = 1;
      continue;
    }
    const uint64_t most = std::min(shape[axis], target / behind);
    const uint64_t pieces = divide_up(shape[axis], most);
    chunking.shape[axis] = divide_up(shape[axis], pieces);
    break;
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    chunking.counts.push_back(divide_up(shape[axis], chunking.shape[axis]));
  }
  return chunking;
}

}  // namespace tailrace::impl
