// SizeHistogram: counts sizes in bytes, in fixed memory, with a bucket for each power of two.
//
// As in Histogram, one thread adds and any thread reads, each number by itself. Holds no pointers, so it may lie in
// memory that processes share.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/histogram.hpp"

namespace tailrace::impl {

class SizeHistogram {
 public:
  // Bucket i counts sizes from 2^i bytes to below 2^(i+1); the last one counts all longer sizes too.
  static constexpr uint32_t kBuckets = 48;

  // The counts at one moment.
  struct Figures {
    std::array<uint64_t, kBuckets> buckets{};
    uint64_t bytes = 0;  // of all together
    uint64_t most = 0;

    uint64_t count() const {
      uint64_t count = 0;
      for (const uint64_t in_bucket : buckets) count += in_bucket;
      return count;
    }
  };

  // ---- the one thread that measures ----
  void add(uint64_t bytes) {
    buckets_[bucket(bytes)].add();
    bytes_.add(bytes);
    most_.raise(bytes);
  }
  // Adds what another histogram has counted between `since` and `now`.
  void add(const Figures& now, const Figures& since) {
    for (uint32_t index = 0; index < kBuckets; ++index) {
      if (now.buckets[index] != since.buckets[index]) buckets_[index].add(now.buckets[index] - since.buckets[index]);
    }
    bytes_.add(now.bytes - since.bytes);
    if (now.bytes != since.bytes) most_.raise(now.most);
  }
  void clear() {
    for (Tally& tally : buckets_) tally.set(0, std::memory_order_release);
    bytes_.set(0, std::memory_order_release);
    most_.set(0, std::memory_order_release);
  }

  // ---- any thread ----
  Figures read(std::memory_order order = std::memory_order_relaxed) const {
    Figures figures;
    for (uint32_t index = 0; index < kBuckets; ++index) figures.buckets[index] = buckets_[index].get(order);
    figures.bytes = bytes_.get(order);
    figures.most = most_.get(order);
    return figures;
  }
  uint64_t count() const { return read().count(); }
  uint64_t most() const { return most_.get(); }

  static constexpr uint32_t bucket(uint64_t bytes) {
    if (bytes == 0) return 0;
    return std::min(static_cast<uint32_t>(std::bit_width(bytes)) - 1, kBuckets - 1);
  }
  // Returns the least size of a bucket.
  static constexpr uint64_t least(uint32_t index) { return uint64_t{1} << index; }

 private:
  std::array<Tally, kBuckets> buckets_;
  Tally bytes_;
  Tally most_;
};

}  // namespace tailrace::impl
