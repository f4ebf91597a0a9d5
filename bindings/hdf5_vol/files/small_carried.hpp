// Which small datasets may be carried, so that few need be looked at: whoever has one of them by another object must
// know. A dataset that is made has no other object until it is opened.
#pragma once

#include <atomic>
#include <cstdint>

namespace tailrace::hdf5 {

class SmallCarried {
 public:
  // One is: by the object through which it was made, or by one that was opened.
  static void note(bool by_its_maker) {
    const Who who = by_its_maker ? Who::makers : Who::others;
    if (who > by_.load(std::memory_order_relaxed)) by_.store(who, std::memory_order_relaxed);
  }
  // Returns true if the dataset may be carried by another object.
  static bool may_be(bool is_maker) {
    return by_.load(std::memory_order_relaxed) >= (is_maker ? Who::others : Who::makers);
  }
  // No file is carried any more.
  static void forget() { by_.store(Who::nobody, std::memory_order_relaxed); }

 private:
  enum class Who : uint8_t { nobody, makers, others };
  // Orders nothing: of one file there is one HDF5, which lets one thread in at a time.
  static inline std::atomic<Who> by_ = Who::nobody;
};

}  // namespace tailrace::hdf5
