// BlockShape: the numbers of a block of a variable, from its layout and the present values of parameters. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "damaris/xml/expression.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

struct BlockShape {
  std::vector<uint64_t> memory;  // as the program has it, with ghosts
  std::vector<uint64_t> inner;   // without them
  std::vector<uint64_t> first;   // ghosts at the lower end of each dimension
  std::vector<uint64_t> global;  // of the whole array, without ghosts

  bool has_ghosts() const { return memory != inner; }
  // Return numbers of elements.
  uint64_t elements_in_memory() const;
  uint64_t elements_inside() const;
  // Returns the range of the elements in memory, from the first one that is no ghost to behind the last one.
  std::pair<uint64_t, uint64_t> inside_in_memory() const;

  bool operator==(const BlockShape&) const = default;
};

// Throws ExpressionError if a dimension has no value or a negative one, if there are more ghosts than elements, or if
// the block is too large to have a size.
BlockShape shape_of(const Layout& layout, const Expression::Lookup& lookup);

// Copies a block without its ghosts. `from` has elements_in_memory() elements of `element` bytes.
void copy_inside(const BlockShape& shape, size_t element, const void* from, void* to);

}  // namespace tailrace::damaris
