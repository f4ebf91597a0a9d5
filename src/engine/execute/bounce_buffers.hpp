// BounceBuffers: aligned memory through which unaligned bytes bypass the page cache.
//
// A direct transfer needs memory that is aligned like the file; the arrays of programs seldom are (malloc and NumPy
// align to 16 bytes). Their bytes, or those of many short requests, are copied into one of these buffers, which is
// then transferred directly. All buffers are mapped together when the first one is needed, and each takes memory on
// first use; or a thread of their own takes it from the beginning. Otherwise one thread at a time.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/memory/memory_map.hpp"
#include "base/memory/toucher.hpp"

namespace tailrace::impl {

class BounceBuffers {
 public:
  // `bytes` is the size of each buffer, a multiple of the page. `count` 0: there are none. `prefault`: takes the
  // memory from the system now, beside the caller.
  BounceBuffers(uint64_t bytes, uint32_t count, bool prefault);

  // Returns the size of a buffer; 0 if there are none, or if the system had no memory for them.
  uint64_t bytes() const { return count_ > 0 ? bytes_ : 0; }

  // Returns true if all buffers are in use.
  bool all_in_use() const { return memory_.has_value() && free_.empty(); }

  // Copies the bytes of `from`, at most bytes(), into a free buffer, back to back, and returns it. Null if
  // none is free, or if there are none.
  std::byte* fill(std::span<const iovec> from);
  // Returns a buffer, which is then free again.
  void release(std::byte* buffer) { free_.push_back(buffer); }

 private:
  std::byte* take();
  void get_memory();

  const uint64_t bytes_;
  uint32_t count_;
  std::optional<MappedMemory> memory_;  // none until the first buffer is needed
  std::vector<std::byte*> free_;
  std::optional<Toucher> toucher_;  // of memory_; ends before it
};

}  // namespace tailrace::impl
