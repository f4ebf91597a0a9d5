#include "format/plan/stored_as.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/names/name_template.hpp"

namespace tailrace::impl {
namespace {

// Returns the last axis along which the block is shorter than the whole. A contiguous run of bytes extends along this
// axis and those behind it; the axes before it count the runs.
size_t axis_of_runs(const Layout& block) {
  size_t axis = block.shape.size() - 1;
  while (axis > 0 && block.shape[axis] == block.global_shape[axis]) --axis;
  return axis;
}

// Returns the name of a client's own dataset. Of a vector, and of particles, the record or species is the client's.
std::string name_of_client(const std::string& name, int client) {
  const size_t end = std::min(name.find('/'), name.size());
  return fmt::format("{}_c{}{}", name.substr(0, end), client, name.substr(end));
}

}  // namespace

std::vector<uint64_t> StoredAs::offset() const {
  return shared ? std::vector<uint64_t>(block->offset.size()) : block->offset;
}

uint64_t StoredAs::bytes() const {
  uint64_t bytes = size_of(block->type);
  for (const uint64_t extent : shape()) bytes *= extent;
  return bytes;
}

std::vector<uint64_t> place_of(const Layout& block) {
  std::vector<uint64_t> place = block.offset;
  place.insert(place.end(), block.shape.begin(), block.shape.end());
  return place;
}

uint64_t runs_in_whole(const Layout& block) {
  uint64_t runs = 1;
  for (size_t axis = axis_of_runs(block); axis > 0; --axis) runs *= block.shape[axis - 1];
  return runs;
}

uint64_t end_in_whole(const Layout& block) {
  uint64_t last = 0;  // number of its last element in the whole
  for (size_t axis = 0; axis < block.shape.size(); ++axis) {
    last = last * block.global_shape[axis] + block.offset[axis] + block.shape[axis] - 1;
  }
  return (last + 1) * size_of(block.type);
}

std::vector<Extent> extents_of(const Layout& block, const StoredAs& as, uint64_t begin) {
  if (block.empty()) return {};
  if (!as.shared) return {{begin, block.bytes()}};
  const size_t rank = block.shape.size();
  const uint64_t runs = runs_in_whole(block);
  const uint64_t length = block.bytes() / runs;
  std::vector<Extent> extents;
  extents.reserve(runs);
  std::vector<uint64_t> corner = block.offset;  // of the run, in the whole array
  for (;;) {
    uint64_t elements_before = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      elements_before = elements_before * block.global_shape[axis] + corner[axis];
    }
    extents.push_back({begin + elements_before * size_of(block.type), length});
    if (extents.size() == runs) return extents;
    size_t axis = axis_of_runs(block) - 1;
    while (++corner[axis] == block.offset[axis] + block.shape[axis]) {
      corner[axis] = block.offset[axis];
      --axis;
    }
  }
}

StoredAs stored_as(const Variable& variable, const Layout& layout, FilePer file_per, int client) {
  if (!variable.dataset.empty()) {
    const bool shared = file_per != FilePer::process && !has_client(variable.dataset);
    return {with_number(variable.dataset, kClientField, client), "", &layout, shared};
  }
  const char* const root = variable.record.of_particles ? "particles" : "meshes";
  if (file_per == FilePer::process) return {variable.name, root, &layout, false};
  // If parameters give the whole a size of its own, a block that happens to be all of it is a part like others.
  const bool part = layout.shape != layout.global_shape || layout.sources.shape != layout.sources.global_shape;
  const uint64_t most_runs = file_per == FilePer::job ? kMostRuns : 1;
  if (!part || variable.filtered() || runs_in_whole(layout) > most_runs) {
    return {name_of_client(variable.name, client), root, &layout, false};
  }
  return {variable.name, root, &layout, true};
}

}  // namespace tailrace::impl
