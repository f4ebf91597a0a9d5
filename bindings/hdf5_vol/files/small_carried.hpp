// SmallCarried knows which small datasets may be carried, so that few need be looked at: every object of such a
// dataset must know it. A dataset that was created has no other object until the program opens it. It also
// knows after how many parts one is looked at.
#pragma once

#include <atomic>
#include <cstdint>

namespace tailrace::hdf5 {

class SmallCarried {
 public:
  // Notes that one is carried: through the object that created it, or through one that was opened.
  static void note(bool by_its_maker) {
    const Who who = by_its_maker ? Who::makers : Who::others;
    if (who > by_.load(std::memory_order_relaxed)) by_.store(who, std::memory_order_relaxed);
  }
  // Returns true if another object may carry the dataset.
  static bool may_be(bool is_maker) {
    return by_.load(std::memory_order_relaxed) >= (is_maker ? Who::others : Who::makers);
  }
  // Call it when no file is carried any more.
  static void forget() {
    by_.store(Who::nobody, std::memory_order_relaxed);
    few_.store(kMany, std::memory_order_relaxed);
  }

  // Carrying a dataset begins to pay at this many parts.
  static constexpr uint8_t kMany = 8;
  // Returns how many parts HDF5 writes before a dataset is carried: one if the latest dataset that was written in
  // parts had kMany, else kMany.
  static uint8_t few() { return few_.load(std::memory_order_relaxed); }
  static void note_parts(uint8_t parts) { few_.store(parts < kMany ? kMany : 1, std::memory_order_relaxed); }

 private:
  enum class Who : uint8_t { nobody, makers, others };
  // relaxed: one HDF5 has the file, and it lets in one thread at a time.
  static inline std::atomic<Who> by_ = Who::nobody;
  static inline std::atomic<uint8_t> few_ = kMany;
};

}  // namespace tailrace::hdf5
