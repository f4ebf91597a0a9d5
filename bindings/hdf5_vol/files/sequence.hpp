// The reads of one dataset, one after the other, and where the next one will be if they go on as they do.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <optional>

namespace tailrace::hdf5 {

class Sequence {
 public:
  // The range of the read after `read`, of as many bytes: behind it if it was behind the one before, else as far on
  // (or back) as the last two were from one another. Nothing if they do not say; it may lie outside of the dataset.
  std::optional<tailrace_extent> after(const tailrace_extent& read);

 private:
  std::optional<tailrace_extent> last_;
  uint64_t stride_ = 0;  // from the read before the last to the last, modulo 2^64; 0: none
};

}  // namespace tailrace::hdf5
