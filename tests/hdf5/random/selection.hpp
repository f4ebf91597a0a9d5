// The elements of a space that a call selects, for HDF5 and for the model.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <vector>

#include "check.hpp"
#include "testing/dice.hpp"

namespace tailrace::test {

using impl::Dice;
using Shape = std::vector<hsize_t>;

size_t product(const Shape& shape);
Id space_of(const Shape& shape, const Shape& most = {});

struct Selection {
  Id space;
  std::vector<size_t> elements;  // in HDF5's order of the selection
  size_t extent = 0;             // elements of the whole space
  bool moved = false;            // by H5Soffset_simple
};

// Selects elements of a dataset: all, a hyperslab, two at once, points (some of them twice, for `writes`), or none.
// With `chunk`, sometimes whole chunks.
Selection some_of(const Shape& shape, const Shape& chunk, Dice& dice);
// Selects `count` rows, from `first` on, as far as there are any: all that has these indices along the first axis.
Selection rows_of(const Shape& shape, hsize_t first, hsize_t count);
// Selects memory for `count` elements: side by side, apart, or in any order.
Selection some_memory(size_t count, Dice& dice);

}  // namespace tailrace::test
