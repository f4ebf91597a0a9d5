#include "selection.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tailrace::test {
namespace {

constexpr uint64_t kMostPoints = 40;

Selection whole(const Shape& shape) {
  Selection all{space_of(shape), std::vector<size_t>(product(shape)), product(shape)};
  std::iota(all.elements.begin(), all.elements.end(), size_t{0});
  return all;
}

// One dimension of a hyperslab.
struct Along {
  hsize_t begin, step, count, block;
  bool has(hsize_t at) const { return at >= begin && (at - begin) / step < count && (at - begin) % step < block; }
};

Along some_along(hsize_t length, Dice& dice) {
  const hsize_t begin = dice.below(length);
  const hsize_t block = dice.chance(60) ? 1 : dice.between(1, std::min<hsize_t>(length - begin, 5));
  const hsize_t step = dice.chance(50) ? block : dice.between(block, block + 3);
  return {begin, step, dice.between(1, (length - begin - block) / step + 1), block};
}

// Whole chunks, the last one perhaps cut off.
Along some_chunks(hsize_t length, hsize_t chunk, Dice& dice) {
  const hsize_t first = dice.below((length + chunk - 1) / chunk) * chunk;
  const hsize_t end = std::min(length, first + chunk * dice.between(1, 3));
  return {first, 1, end - first, 1};
}

void add(std::vector<bool>& taken, const Shape& shape, const std::vector<Along>& slab) {
  for (size_t element = 0; element < taken.size(); ++element) {
    size_t rest = element;
    bool inside = true;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) inside &= slab[axis].has(rest % shape[axis]);
    if (inside) taken[element] = true;
  }
}

void select(hid_t space, H5S_seloper_t how, const std::vector<Along>& slab) {
  Shape begin, step, count, block;
  for (const Along& along : slab) {
    begin.push_back(along.begin);
    step.push_back(along.step);
    count.push_back(along.count);
    block.push_back(along.block);
  }
  CHECK(H5Sselect_hyperslab(space, how, begin.data(), step.data(), count.data(), block.data()) >= 0);
}

// Begins the slab earlier, and moves it back to its place.
void shift(hid_t space, std::vector<Along>& slab, Dice& dice) {
  std::vector<hssize_t> by;
  for (Along& along : slab) {
    by.push_back(static_cast<hssize_t>(dice.below(along.begin + 1)));
    along.begin -= static_cast<hsize_t>(by.back());
  }
  CHECK(H5Soffset_simple(space, by.data()) >= 0);
}

// HDF5 selects the elements of hyperslabs in the order of the space, and common elements of two only once. (1.14.5
// loses elements if the second has gaps.)
Selection slabs(const Shape& shape, const Shape& chunk, Dice& dice) {
  Selection some{space_of(shape), {}, product(shape)};
  std::vector<bool> taken(some.extent);
  const bool chunks = !chunk.empty() && dice.chance(50);
  for (int i = 0, several = !chunks && dice.chance(20) ? 2 : 1; i < several; ++i) {
    std::vector<Along> slab;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      slab.push_back(chunks ? some_chunks(shape[axis], chunk[axis], dice) : some_along(shape[axis], dice));
      if (i > 0) slab.back().step = slab.back().block;
    }
    add(taken, shape, slab);
    some.moved = several == 1 && dice.chance(20);
    if (some.moved) shift(some.space.get(), slab, dice);
    select(some.space.get(), i == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, slab);
  }
  for (size_t element = 0; element < taken.size(); ++element) {
    if (taken[element]) some.elements.push_back(element);
  }
  return some;
}

void select_elements(Selection& some, const Shape& shape) {
  Shape coordinates(some.elements.size() * shape.size());
  for (size_t i = 0; i < some.elements.size(); ++i) {
    size_t rest = some.elements[i];
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
      coordinates[i * shape.size() + axis] = rest % shape[axis];
    }
  }
  CHECK(H5Sselect_elements(some.space.get(), H5S_SELECT_SET, some.elements.size(), coordinates.data()) >= 0);
}

// In any order, some perhaps twice. (But fewer than there are elements, in all or in a chunk: otherwise 1.14.5 takes
// them for a complete selection, and fills nothing.)
Selection points(const Shape& shape, const Shape& chunk, Dice& dice) {
  Selection some{space_of(shape), {}, product(shape)};
  const bool once = !chunk.empty() || some.extent <= kMostPoints + 1;
  for (uint64_t i = 0, count = dice.between(1, kMostPoints); i < count; ++i) {
    const size_t element = dice.below(some.extent);
    const bool there = std::find(some.elements.begin(), some.elements.end(), element) != some.elements.end();
    if (!there || !once) some.elements.push_back(element);
  }
  if (!once && dice.chance(20)) some.elements.push_back(some.elements.front());
  select_elements(some, shape);
  return some;
}

}  // namespace

size_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
}

Id space_of(const Shape& shape, const Shape& most) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.empty() ? nullptr : most.data()),
          H5Sclose};
}

Selection some_of(const Shape& shape, const Shape& chunk, Dice& dice) {
  if (dice.chance(25)) return whole(shape);
  if (dice.chance(15)) return points(shape, chunk, dice);
  if (dice.chance(3)) {
    Selection none{space_of(shape), {}, product(shape)};
    CHECK(H5Sselect_none(none.space.get()) >= 0);
    return none;
  }
  return slabs(shape, chunk, dice);
}

Selection rows_of(const Shape& shape, hsize_t first, hsize_t count) {
  std::vector<Along> slab;
  for (const hsize_t length : shape) slab.push_back({0, 1, length, 1});
  slab[0] = {first, 1, std::min(count, shape[0] - first), 1};
  Selection rows{space_of(shape), {}, product(shape)};
  select(rows.space.get(), H5S_SELECT_SET, slab);
  const size_t row = rows.extent / shape[0];
  rows.elements.resize(slab[0].count * row);
  std::iota(rows.elements.begin(), rows.elements.end(), first * row);
  return rows;
}

Selection some_memory(size_t count, Dice& dice) {
  Selection memory = whole({count});
  const uint64_t how = count == 0 ? 9 : dice.below(10);
  if (how < 3) {  // apart
    const hsize_t begin = dice.below(4);
    const hsize_t step = dice.between(2, 3);
    memory.extent = begin + count * step;
    memory.space = space_of({memory.extent});
    select(memory.space.get(), H5S_SELECT_SET, {{begin, step, count, 1}});
    for (size_t& element : memory.elements) element = begin + element * step;
  } else if (how < 4 && count <= kMostPoints) {  // in any order
    memory.extent = count + 3;
    memory.space = space_of({memory.extent});
    for (size_t i = count; i-- > 1;) std::swap(memory.elements[i], memory.elements[dice.below(i + 1)]);
    select_elements(memory, {memory.extent});
  } else if (how < 5) {  // a column
    memory.extent = count * 3;
    memory.space = space_of({count, 3});
    const hsize_t column = dice.below(3);
    select(memory.space.get(), H5S_SELECT_SET, {{0, 1, count, 1}, {column, 1, 1, 1}});
    for (size_t& element : memory.elements) element = element * 3 + column;
  }
  return memory;
}

}  // namespace tailrace::test
