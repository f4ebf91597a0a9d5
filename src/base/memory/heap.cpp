#include "base/memory/heap.hpp"

#include <malloc.h>

#include <cstdlib>

#include "base/memory/memory_map.hpp"

namespace tailrace::impl {

void take_heap(size_t bytes) {
  constexpr int kLargest = 32 << 20;  // more is the system's again when it is freed
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, 2 * kLargest);
  constexpr size_t kPage = 4096;
  void* const memory = std::aligned_alloc(kPage, bytes / kPage * kPage);
  if (memory == nullptr) return;  // whoever needs it will say so
  (void)touch(static_cast<std::byte*>(memory), bytes / kPage * kPage);
  std::free(memory);
}

}  // namespace tailrace::impl
