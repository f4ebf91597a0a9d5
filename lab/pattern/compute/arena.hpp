// Arena: the memory of a kernel's arrays, on the heap or in the data segment (arrays at namespace scope).
//
// There is one data segment, so only one kernel at a time can use it. Arrays begin on cache lines; their contents are
// not initialised.
#pragma once

#include <cstddef>
#include <span>

#include "lab/pattern/compute/compute_worker.hpp"

namespace bench {

class Arena {
 public:
  // Makes room for `bytes`. Throws UsageError if the data segment is too small or in use.
  Arena(Memory memory, size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Returns the next `count` elements. REQUIRES: the room of the constructor suffices.
  template <class T>
  std::span<T> take(size_t count) {
    return {static_cast<T*>(take_bytes(count * sizeof(T))), count};
  }

  // Returns the bytes that take<T>(count) uses.
  template <class T>
  static constexpr size_t bytes_for(size_t count) {
    return (count * sizeof(T) + kLine - 1) / kLine * kLine;
  }

 private:
  static constexpr size_t kLine = 64;
  void* take_bytes(size_t bytes);

  const Memory memory_;
  const size_t size_;
  std::byte* data_;
  size_t used_ = 0;
};

}  // namespace bench
