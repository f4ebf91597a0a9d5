// FixedFifo: a first-in first-out queue whose capacity is allocated once. Shared by the back ends of this layer.
//
// It never allocates after that and never blocks. Not thread-safe: users that share one must guard it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/assert.hpp"

namespace tailrace::impl {

template <class T>
class FixedFifo {
 public:
  explicit FixedFifo(size_t capacity) : slots_(capacity) { TAILRACE_REQUIRE(capacity > 0); }

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }

  // Requires that the queue is not full.
  void push(const T& value) {
    TAILRACE_REQUIRE(count_ < slots_.size());
    slots_[(first_ + count_) % slots_.size()] = value;
    count_++;
  }

  // Requires that the queue is not empty.
  const T& front() const {
    TAILRACE_REQUIRE(count_ > 0);
    return slots_[first_];
  }

  // Requires that the queue is not empty.
  T pop() {
    TAILRACE_REQUIRE(count_ > 0);
    const T value = slots_[first_];
    first_ = (first_ + 1) % slots_.size();
    count_--;
    return value;
  }

 private:
  std::vector<T> slots_;
  size_t first_ = 0;
  size_t count_ = 0;
};

}  // namespace tailrace::impl
