#include "damaris/output/block_shape.hpp"

#include <cstring>
#include <string>

namespace tailrace::damaris {
namespace {

constexpr uint64_t kMostElements = uint64_t{1} << 59;

uint64_t count_of(const Expression& expression, const Expression::Lookup& lookup, const char* of) {
  const int64_t value = expression.value(lookup);
  if (value < 0) throw ExpressionError(std::string("the value ") + std::to_string(value) + " of " + of);
  return static_cast<uint64_t>(value);
}

uint64_t product(const std::vector<uint64_t>& extents) {
  uint64_t result = 1;
  for (const uint64_t extent : extents) result *= extent;
  return result;
}

void check_size(const std::vector<uint64_t>& extents) {
  uint64_t elements = 1;
  for (const uint64_t extent : extents) {
    if (extent != 0 && elements > kMostElements / extent) throw ExpressionError("more than 2^59 elements");
    elements *= extent;
  }
}

}  // namespace

uint64_t BlockShape::elements_in_memory() const { return product(memory); }
uint64_t BlockShape::elements_inside() const { return product(inner); }

std::pair<uint64_t, uint64_t> BlockShape::inside_in_memory() const {
  if (elements_inside() == 0) return {0, 0};
  uint64_t begin = 0;
  uint64_t last = 0;
  for (size_t axis = 0; axis < memory.size(); ++axis) {
    begin = begin * memory[axis] + first[axis];
    last = last * memory[axis] + first[axis] + inner[axis] - 1;
  }
  return {begin, last + 1};
}

BlockShape shape_of(const Layout& layout, const Expression::Lookup& lookup) {
  BlockShape shape;
  for (size_t axis = 0; axis < layout.dimensions.size(); ++axis) {
    const auto& [lower, upper] = layout.ghosts[axis];
    shape.memory.push_back(count_of(layout.dimensions[axis], lookup, "a dimension"));
    shape.global.push_back(count_of(layout.global[axis], lookup, "a global dimension"));
    shape.first.push_back(count_of(lower, lookup, "a number of ghosts"));
    const uint64_t last = count_of(upper, lookup, "a number of ghosts");
    const uint64_t all = shape.memory.back();
    if (shape.first.back() > all || last > all - shape.first.back()) {
      throw ExpressionError(std::to_string(shape.first.back()) + " and " + std::to_string(last) +
                            " ghosts along a dimension of " + std::to_string(all));
    }
    shape.inner.push_back(all - shape.first.back() - last);
  }
  check_size(shape.memory);
  check_size(shape.global);
  return shape;
}

// Copies row by row: a row is a run along the last axis.
void copy_inside(const BlockShape& shape, size_t element, const void* from, void* to) {
  if (shape.elements_inside() == 0) return;
  const size_t rank = shape.memory.size();
  const size_t row = shape.inner[rank - 1] * element;
  const auto* const source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  std::vector<uint64_t> index(rank, 0);
  for (;;) {
    uint64_t before = 0;
    for (size_t axis = 0; axis < rank; ++axis) before = before * shape.memory[axis] + shape.first[axis] + index[axis];
    std::memcpy(target, source + before * element, row);
    target += row;
    size_t axis = rank - 1;
    do {
      if (axis == 0) return;
      index[axis] = 0;
      --axis;
    } while (++index[axis] == shape.inner[axis]);
  }
}

}  // namespace tailrace::damaris
