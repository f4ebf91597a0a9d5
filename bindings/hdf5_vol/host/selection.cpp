#include "hdf5_vol/host/selection.hpp"

#include <algorithm>
#include <functional>

#include "process_client/bytes/extents.hpp"

namespace tailrace::hdf5 {
namespace {

// The first and last elements along each axis.
struct Bounds {
  hsize_t begin[H5S_MAX_RANK];
  hsize_t end[H5S_MAX_RANK];
};

bool lies_in(const Bounds& bounds, const Extent& extent) {
  return std::equal(bounds.end, bounds.end + extent.rank, extent.length, std::less<>());
}

uint64_t elements_between(const Bounds& bounds, int rank) {
  uint64_t elements = 1;
  for (int axis = 0; axis < rank; ++axis) elements *= bounds.end[axis] - bounds.begin[axis] + 1;
  return elements;
}

// Returns the first of all elements between the bounds, if they lie side by side.
std::optional<uint64_t> first_of_run(const Bounds& bounds, const Extent& extent) {
  uint64_t first = 0;
  bool several = false;  // several rows or planes, which therefore must be whole
  for (int axis = 0; axis < extent.rank; ++axis) {
    const hsize_t length = bounds.end[axis] - bounds.begin[axis] + 1;
    if (several && length != extent.length[axis]) return std::nullopt;
    several = several || length > 1;
    first = first * extent.length[axis] + bounds.begin[axis];
  }
  return first;
}

}  // namespace

bool Extent::operator==(const Extent& other) const {
  return rank >= 0 && rank == other.rank && std::equal(length, length + rank, other.length);
}

Extent Extent::of(const Host& host, hid_t space) {
  Extent extent;
  extent.rank = host.H5Sget_simple_extent_dims(space, extent.length, nullptr);
  return extent;
}

// Each function of HDF5 takes as long as copying hundreds of bytes, so this calls only those that it needs.
std::optional<Selection> Selection::look(const Host& host, hid_t space, const Extent* expected) {
  const H5S_sel_type type = host.H5Sget_select_type(space);
  const hssize_t count = host.H5Sget_select_npoints(space);
  if (count < 0) return std::nullopt;
  const auto elements = static_cast<uint64_t>(count);
  Selection selection{elements, type == H5S_SEL_POINTS, std::nullopt};
  const bool is_block = type == H5S_SEL_HYPERSLABS && elements > 0;
  if (type == H5S_SEL_ALL) selection.first = 0;
  Extent extent;
  if (is_block || expected != nullptr) extent = Extent::of(host, space);
  if (expected != nullptr && !(extent == *expected)) return std::nullopt;
  if (type == H5S_SEL_ALL) return selection;
  if (!is_block) return host.H5Sselect_valid(space) > 0 ? std::optional(selection) : std::nullopt;
  Bounds bounds;
  if (extent.rank <= 0 || host.H5Sget_select_bounds(space, bounds.begin, bounds.end) < 0) return std::nullopt;
  if (!lies_in(bounds, extent)) return std::nullopt;
  if (elements_between(bounds, extent.rank) == elements) selection.first = first_of_run(bounds, extent);
  return selection;
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
      process::append(runs, {base + offsets[i], lengths[i]});
    }
    elements -= covered;
  }
  return true;
}

}  // namespace tailrace::hdf5
