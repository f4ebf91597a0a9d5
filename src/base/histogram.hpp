// Histogram: counts durations, from nanoseconds to half an hour, in fixed memory.
//
// One thread adds, any thread reads. Each number stands by itself, so relaxed order suffices. Only one thread writes,
// so adding needs no locked instruction: three plain loads and stores. A reader may see a duration in a bucket before
// it is in the sum, but never a torn number. A bucket is at most a quarter of an octave wide, so a percentile is at
// most a quarter too high. Holds no pointers, so it may lie in memory that processes share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace tailrace::impl {

// A number that one thread changes and any thread reads.
class Tally {
 public:
  void add(uint64_t by = 1) { set(get() + by); }
  void set(uint64_t to, std::memory_order order = std::memory_order_relaxed) { value_.store(to, order); }
  void raise(uint64_t to) {
    if (to > get()) set(to);
  }
  uint64_t get(std::memory_order order = std::memory_order_relaxed) const { return value_.load(order); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Histogram {
 public:
  static constexpr uint32_t kQuarters = 4;  // buckets per octave
  static constexpr uint32_t kOctaves = 41;  // up to 2^41 ns, 37 minutes; the last bucket takes the rest
  static constexpr uint32_t kBuckets = kOctaves * kQuarters;  // 0 to 3 ns have their own buckets
  static constexpr uint64_t kMostInBucket = UINT32_MAX;

  // Adds one duration. Only the thread that measures.
  void add(uint64_t nanoseconds) {
    count_in(bucket(nanoseconds), 1);
    sum_.add(nanoseconds);
    most_.raise(nanoseconds);
  }
  // Adds all durations of another histogram.
  void add(const Histogram& other) {
    for (uint32_t index = 0; index < kBuckets; ++index) count_in(index, other.in_bucket(index));
    sum_.add(other.sum());
    most_.raise(other.most());
  }

  // Any thread.
  uint64_t count() const {
    uint64_t count = 0;
    for (uint32_t index = 0; index < kBuckets; ++index) count += in_bucket(index);
    return count;
  }
  uint64_t sum() const { return sum_.get(); }
  uint64_t most() const { return most_.get(); }
  // Returns the count of one bucket, at most kMostInBucket: a full bucket does not wrap.
  uint64_t in_bucket(uint32_t index) const { return buckets_[index].load(std::memory_order_relaxed); }

  // Returns the duration that `share` (0 to 1) of all durations do not exceed: the upper end of its bucket, or the
  // longest duration if that is less. 0 if nothing was added.
  uint64_t percentile(double share) const {
    const uint64_t all = count();
    if (all == 0) return 0;
    uint64_t rank = static_cast<uint64_t>(share * static_cast<double>(all));
    if (rank >= all) rank = all - 1;
    uint64_t below = 0;
    for (uint32_t index = 0; index + 1 < kBuckets; ++index) {
      below += in_bucket(index);
      if (below > rank) return std::min(upper_end(index), most());
    }
    return most();
  }

  // Returns the bucket of a duration; upper_end() returns the longest duration of a bucket.
  static constexpr uint32_t bucket(uint64_t nanoseconds) {
    if (nanoseconds < kQuarters) return static_cast<uint32_t>(nanoseconds);
    const auto octave = static_cast<uint32_t>(std::bit_width(nanoseconds)) - 1;  // at least 2
    const auto quarter = static_cast<uint32_t>(nanoseconds >> (octave - 2)) & (kQuarters - 1);
    return std::min((octave - 1) * kQuarters + quarter, kBuckets - 1);
  }
  static constexpr uint64_t upper_end(uint32_t index) {
    if (index < kQuarters) return index;
    const uint32_t octave = index / kQuarters + 1;
    const uint64_t quarter = index % kQuarters;
    return ((kQuarters + quarter + 1) << (octave - 2)) - 1;
  }

 private:
  void count_in(uint32_t index, uint64_t times) {
    const uint64_t count = std::min(in_bucket(index) + times, kMostInBucket);
    buckets_[index].store(static_cast<uint32_t>(count), std::memory_order_relaxed);
  }

  std::array<std::atomic<uint32_t>, kBuckets> buckets_{};  // 32 bits: there are several histograms per variable
  Tally sum_;
  Tally most_;
};

}  // namespace tailrace::impl
