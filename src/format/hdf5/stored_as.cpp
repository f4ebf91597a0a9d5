#include "format/hdf5/stored_as.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace tailrace::impl {

std::vector<uint64_t> place_of(const Layout& block) {
  std::vector<uint64_t> place = block.offset;
  place.insert(place.end(), block.shape.begin(), block.shape.end());
  return place;
}

std::optional<uint64_t> position_in_whole(const Layout& layout) {
  const size_t rank = layout.shape.size();
  // The first axis along which the block has more than one element: behind it, it must have all.
  size_t axis = 0;
  while (axis < rank && layout.shape[axis] == 1) ++axis;
  for (size_t behind = axis + 1; behind < rank; ++behind) {
    if (layout.shape[behind] != layout.global_shape[behind]) return std::nullopt;
  }
  uint64_t position = 0;
  for (size_t each = 0; each < rank; ++each) position = position * layout.global_shape[each] + layout.offset[each];
  return position;
}

StoredAs stored_as(const Variable& variable, const Layout& layout, FilePer file_per, int client) {
  if (file_per == FilePer::process) return {variable.name, layout, 0, false};
  // Where the whole has a size of its own by parameters, a block that happens to be all of it is a part like others.
  const bool part = layout.shape != layout.global_shape || layout.sources.shape != layout.sources.global_shape;
  const std::optional<uint64_t> position = part && !variable.filtered() ? position_in_whole(layout) : std::nullopt;
  if (!position) return {fmt::format("{}_c{}", variable.name, client), layout, 0, false};
  Layout whole = layout;
  whole.shape = layout.global_shape;
  whole.offset.assign(layout.offset.size(), 0);
  return {variable.name, whole, *position * size_of(layout.type), true};
}

}  // namespace tailrace::impl
