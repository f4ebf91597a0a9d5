#include "selection.hpp"

#include <algorithm>

namespace tailrace::hdf5 {
namespace {

// The block from `begin` to `end` (both in it) of an extent, as its elements lie side by side; none if they do not.
struct Block {
  hsize_t begin[H5S_MAX_RANK];
  hsize_t end[H5S_MAX_RANK];
};
std::optional<uint64_t> first_of_run(const Block& block, const hsize_t* extent, int rank) {
  uint64_t first = 0;
  bool several = false;  // rows, or planes, that therefore must be whole
  for (int axis = 0; axis < rank; ++axis) {
    const hsize_t length = block.end[axis] - block.begin[axis] + 1;
    if (several && length != extent[axis]) return std::nullopt;
    several = several || length > 1;
    first = first * extent[axis] + block.begin[axis];
  }
  return first;
}

uint64_t elements_of(const Block& block, int rank) {
  uint64_t elements = 1;
  for (int axis = 0; axis < rank; ++axis) elements *= block.end[axis] - block.begin[axis] + 1;
  return elements;
}

}  // namespace

std::optional<tailrace_extent> run_at_once(const Host& host, hid_t space, uint64_t elements, size_t element) {
  const H5S_sel_type type = host.H5Sget_select_type(space);
  if (type == H5S_SEL_ALL) return tailrace_extent{0, elements * element};
  if (type != H5S_SEL_HYPERSLABS || elements == 0) return std::nullopt;
  Block block;
  hsize_t extent[H5S_MAX_RANK];
  const int rank = host.H5Sget_simple_extent_dims(space, extent, nullptr);
  if (rank <= 0 || host.H5Sget_select_bounds(space, block.begin, block.end) < 0) return std::nullopt;
  if (elements_of(block, rank) != elements) return std::nullopt;  // there are holes in it
  const std::optional<uint64_t> first = first_of_run(block, extent, rank);
  if (!first) return std::nullopt;
  return tailrace_extent{*first * element, elements * element};
}

SelectionWalk::SelectionWalk(const Host& host, hid_t space, size_t element)
    : host_(host), element_(element), iterator_(host.H5Ssel_iter_create(space, element, 0)) {}

SelectionWalk::~SelectionWalk() {
  if (ok()) host_.H5Ssel_iter_close(iterator_);
}

bool SelectionWalk::is_one_run(uint64_t elements, uint64_t& begin) {
  hsize_t offset = 0;
  size_t length = 0;
  size_t found = 0;
  size_t covered = 0;
  if (host_.H5Ssel_iter_get_seq_list(iterator_, 1, elements, &found, &covered, &offset, &length) < 0) return false;
  begin = offset;
  return covered == elements;
}

bool SelectionWalk::next(uint64_t elements, uint64_t base, std::vector<tailrace_extent>& runs) {
  constexpr size_t kAtOnce = 256;
  hsize_t offsets[kAtOnce];
  size_t lengths[kAtOnce];
  while (elements > 0) {
    size_t found = 0;
    size_t covered = 0;
    if (host_.H5Ssel_iter_get_seq_list(iterator_, kAtOnce, elements, &found, &covered, offsets, lengths) < 0) {
      return false;
    }
    if (covered == 0) return false;
    for (size_t i = 0; i < found; ++i) {
      const tailrace_extent run{base + offsets[i], lengths[i]};
      if (!runs.empty() && runs.back().offset + runs.back().length == run.offset) {
        runs.back().length += run.length;
      } else {
        runs.push_back(run);
      }
    }
    elements -= covered;
  }
  return true;
}

}  // namespace tailrace::hdf5
