#include "base/memory/process_mark.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "base/memory/range_allocator.hpp"

namespace tailrace::impl {
namespace {

static_assert(std::atomic<uint64_t>::is_always_lock_free);

using Mark = std::atomic<uint64_t>;

// Makes a page that the system fills with zeros in each child, however it is forked (also where no handler of
// pthread_atfork runs). Null if this kernel cannot do that.
Mark* make_page() {
  constexpr size_t kSize = RangeAllocator::kPage;
  void* const page = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, kSize, MADV_WIPEONFORK) == 0) return new (page) Mark(0);
  munmap(page, kSize);
  return nullptr;
}

}  // namespace

uint64_t process_mark() {
  static Mark* const page = make_page();
  static Mark given{0};  // children inherit it, so no mark repeats in a line of processes
  if (page == nullptr) return static_cast<uint64_t>(getpid());
  // relaxed: nothing but the mark is read; the application publishes the handle that it is compared with.
  uint64_t mark = page->load(std::memory_order_relaxed);
  if (mark != 0) return mark;
  const uint64_t fresh = given.fetch_add(1, std::memory_order_relaxed) + 1;
  return page->compare_exchange_strong(mark, fresh, std::memory_order_relaxed) ? fresh : mark;
}

}  // namespace tailrace::impl
