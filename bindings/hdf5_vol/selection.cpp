#include "selection.hpp"

#include <algorithm>

namespace tailrace::hdf5 {

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
