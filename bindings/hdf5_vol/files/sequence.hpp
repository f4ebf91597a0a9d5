// Sequence: the last reads of one dataset, from which it predicts the next one.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <optional>

namespace tailrace::hdf5 {

class Sequence {
 public:
  // Notes `read` and returns the range of the next one, with as many bytes. It follows `read` if `read` followed the
  // one before; otherwise it is as far from `read` as the last two were from one another. Returns nothing if the
  // reads do not show a sequence. The range may lie outside the dataset.
  std::optional<tailrace_extent> after(const tailrace_extent& read);

 private:
  std::optional<tailrace_extent> last_;
  uint64_t stride_ = 0;  // from the read before the last to the last, modulo 2^64; 0: none
};

}  // namespace tailrace::hdf5
