#include "hdf5_vol/files/sequence.hpp"

#include <utility>

namespace tailrace::hdf5 {

std::optional<tailrace_extent> Sequence::after(const tailrace_extent& read) {
  const std::optional<tailrace_extent> last = std::exchange(last_, read);
  const uint64_t stride = last ? read.offset - last->offset : 0;
  const bool goes_on = std::exchange(stride_, stride) == stride && stride != 0;
  if (last && last->offset + last->length == read.offset) return {{read.offset + read.length, read.length}};
  if (goes_on) return {{read.offset + stride, read.length}};
  return {};
}

}  // namespace tailrace::hdf5
