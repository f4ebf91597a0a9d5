#include "base/memory/heap.hpp"

#include <malloc.h>

#include <cstdlib>
#include <utility>

#include "base/memory/touch.hpp"

namespace tailrace::impl {

std::unique_ptr<Toucher> take_heap(size_t bytes) {
  constexpr int kLargest = 32 << 20;  // malloc returns larger allocations to the system when they are freed
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, 2 * kLargest);
  constexpr size_t kPage = 4096;
  const size_t whole = bytes / kPage * kPage;
  auto* const begin = static_cast<std::byte*>(std::aligned_alloc(kPage, whole));
  if (begin == nullptr) return nullptr;  // the allocation that needs it will report the failure
  // Frees the memory when all of it has been touched, or when the toucher ends before.
  auto take = [memory = std::shared_ptr<std::byte>(begin, std::free), whole](size_t offset, size_t size) mutable {
    (void)touch(memory.get() + offset, size);
    if (offset + size == whole) memory.reset();
    return true;
  };
  return std::make_unique<Toucher>(whole, Toucher::Options{.take = std::move(take)});
}

}  // namespace tailrace::impl
