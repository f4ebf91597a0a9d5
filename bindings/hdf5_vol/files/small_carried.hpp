// Which small datasets may be carried, so that few need be looked at: whoever has one of them by another object must
// know. A dataset that is made has no other object until it is opened. And after how many parts one is looked at.
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
  static void forget() {
    by_.store(Who::nobody, std::memory_order_relaxed);
    few_.store(kMany, std::memory_order_relaxed);
  }

  // To carry one begins to pay with so many parts.
  static constexpr uint8_t kMany = 8;
  // Returns how many parts HDF5 writes before a dataset is carried: as many, or one, if the latest that was written
  // in parts had as many.
  static uint8_t few() { return few_.load(std::memory_order_relaxed); }
  static void note_parts(uint8_t parts) { few_.store(parts < kMany ? kMany : 1, std::memory_order_relaxed); }

 private:
  enum class Who : uint8_t { nobody, makers, others };
  // Orders nothing: of one file there is one HDF5, which lets one thread in at a time.
  static inline std::atomic<Who> by_ = Who::nobody;
  static inline std::atomic<uint8_t> few_ = kMany;
};

}  // namespace tailrace::hdf5
