#include "base/memory/memory_map.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr size_t kHuge = size_t{2} << 20;

// Bytes of the mapping that holds `address` which lie in transparent huge pages, by /proc/self/smaps.
size_t transparent_huge_bytes(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    size_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
      inside = begin <= wanted && wanted < end;
    } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %zu kB", &kilobytes) == 1) {
      return kilobytes * 1024;
    }
  }
  return 0;
}

void* map_anonymous(size_t size, int flags) {
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return mapping == MAP_FAILED ? nullptr : mapping;
}

Status no_memory(size_t bytes, int error) {
  return Status(TAILRACE_OUT_OF_MEMORY, fmt::format("memory: the system does not give the {} MiB of the budget: {}",
                                                    bytes >> 20, std::generic_category().message(error)));
}

}  // namespace

int touch(std::byte* begin, size_t size) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(begin, size, MADV_POPULATE_WRITE) == 0) return 0;
  if (errno != EINVAL) return errno;  // EINVAL: a kernel before 5.14
#endif
  for (size_t offset = 0; offset < size; offset += 4096) {
    // Another process may have it mapped, too, and use it: what is there stays.
    std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(begin + offset)).fetch_or(0, std::memory_order_relaxed);
  }
  return 0;
}

Result<MappedMemory> MappedMemory::create(size_t bytes, bool prefault) {
  TAILRACE_REQUIRE(bytes > 0);
  TAILRACE_REQUIRE(bytes % 4096 == 0);
  // The kernel would promise more than there is, and end the process when it is touched.
  const uint64_t physical = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(getpagesize());
  if (bytes > physical) {
    return Status(TAILRACE_OUT_OF_MEMORY, fmt::format("memory: the budget is {} MiB, and this machine has {} MiB",
                                                      bytes >> 20, physical >> 20));
  }
  const auto start = std::chrono::steady_clock::now();
  const char* kind = "explicit";
  const size_t whole = (bytes + kHuge - 1) / kHuge * kHuge;
  size_t mapped = whole;
  void* mapping = map_anonymous(mapped, MAP_HUGETLB);
  std::byte* begin = static_cast<std::byte*>(mapping);
  if (mapping == nullptr) {
    // One huge page more than needed, so that the pool can begin at the start of one.
    kind = "transparent";
    mapped = whole + kHuge;
    mapping = map_anonymous(mapped, MAP_NORESERVE);
    if (mapping == nullptr) return no_memory(bytes, errno);
    const auto address = reinterpret_cast<uintptr_t>(mapping);
    begin = reinterpret_cast<std::byte*>((address + kHuge - 1) / kHuge * kHuge);
    madvise(begin, whole, MADV_HUGEPAGE);  // a wish; what came of it is read from smaps below
  }
  MappedMemory memory(mapping, mapped, {begin, bytes});
  // A child of the application needs none of it, and copying touched (or pinned) pages would stall the fork.
  madvise(begin, whole, MADV_DONTFORK);
  if (!prefault) {
    memory.description_ = fmt::format("{:.4g} MiB, touched when used", static_cast<double>(bytes) / 1048576.0);
    return memory;
  }
  if (const int error = touch(begin, bytes); error != 0) return no_memory(bytes, error);
  const bool is_explicit = mapped == whole;
  const size_t huge = is_explicit ? bytes : std::min(transparent_huge_bytes(begin), bytes);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  memory.description_ = fmt::format("{:.4g} MiB, {:.0f} % in huge pages ({}), touched in {:.2f} s",
                                    static_cast<double>(bytes) / 1048576.0,
                                    100.0 * static_cast<double>(huge) / static_cast<double>(bytes), kind, seconds);
  return memory;
}

MappedMemory::MappedMemory(MappedMemory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      bytes_(other.bytes_),
      description_(std::move(other.description_)),
      process_(other.process_) {}

MappedMemory::~MappedMemory() {
  if (mapping_ != nullptr && process_ == process_mark()) munmap(mapping_, mapped_);
}

}  // namespace tailrace::impl
