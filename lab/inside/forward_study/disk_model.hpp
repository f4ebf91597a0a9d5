// DiskModel: how long a disk takes for a request, by where its head is. It counts what it does.
//
// A request that begins where the last one ended costs no positioning: the disk reads ahead. Any other one costs a
// seek, by its distance, and half a turn; or a gap forwards the time in which it passes below the head, if that is
// less. It knows no queue and no time of day.
#pragma once

#include <cstdint>

#include "lab/inside/forward_study/parameters.hpp"

namespace tailrace::impl::study {

class DiskModel {
 public:
  struct Counts {
    uint64_t requests = 0;
    uint64_t bytes = 0;
    uint64_t seeks = 0;          // with half a turn each
    uint64_t passed = 0;         // gaps that were waited for
    Nanoseconds positioning{0};  // seeks, turns and gaps
    Nanoseconds busy{0};         // all
  };

  explicit DiskModel(const DiskParameters& parameters) : parameters_(parameters) {}

  // Carries out a request, and returns its time.
  Nanoseconds serve(uint64_t position, uint64_t bytes);
  // Puts the head somewhere, for a disk whose state another part keeps.
  void put_head(uint64_t position) { head_ = position; }
  // Returns the position at which the last request ended.
  uint64_t head() const { return head_; }
  // Returns the time of a seek without the turn.
  Nanoseconds seek(uint64_t distance) const;
  const Counts& counts() const { return counts_; }

 private:
  Nanoseconds position_at(uint64_t position);
  Nanoseconds passing(uint64_t bytes) const;

  const DiskParameters parameters_;
  uint64_t head_ = 0;
  Counts counts_;
};

}  // namespace tailrace::impl::study
