#include "base/memory/touch.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace tailrace::impl {
namespace {

constexpr size_t kSmallPage = 4096;  // no system has smaller ones

// Constants of the kernel that the C library's headers may lack.
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE
constexpr int kCollapse = 25;       // MADV_COLLAPSE

}  // namespace

int touch(std::byte* begin, size_t size) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t before = reinterpret_cast<uintptr_t>(begin) % page;  // the kernel refuses to begin within a page
  if (madvise(begin - before, before + size, kPopulateWrite) == 0) return 0;
  if (errno != EINVAL) return errno;  // EINVAL: a kernel before 5.14
  touch_one_by_one(begin - before, before + size);
  return 0;
}

// The program, or another process, may write there at the same time. The atomic operation changes no byte, whichever
// comes first. The language still calls that a race, and so would the thread sanitizer.
__attribute__((no_sanitize("thread"))) void touch_one_by_one(std::byte* begin, size_t size) {
  for (size_t offset = 0; offset < size; offset += kSmallPage) {
    __atomic_fetch_or(reinterpret_cast<uint64_t*>(begin + offset), uint64_t{0}, __ATOMIC_RELAXED);
  }
}

bool touch_reports_errors() { return madvise(nullptr, 0, kPopulateWrite) == 0; }

// Touches one page in each huge page's place; collapsing then adds the rest. So each 2 MiB are zeroed once, where 512
// faults would zero the same.
int gather_huge_pages(std::byte* begin, size_t size) {
  for (size_t offset = 0; offset < size; offset += kHugePage) {
    if (const int error = touch(begin + offset, kSmallPage); error != 0) return error;
  }
  return madvise(begin, size, kCollapse) == 0 ? 0 : errno;
}

}  // namespace tailrace::impl
