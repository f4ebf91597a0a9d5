#include "base/memory/memory_map.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/memory/available_memory.hpp"

namespace tailrace::impl {
namespace {

void* map_anonymous(size_t size, int flags) {
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return mapping == MAP_FAILED ? nullptr : mapping;
}

Status no_memory(size_t bytes, int error) {
  return Status(TAILRACE_OUT_OF_MEMORY,
                fmt::format("memory: the system does not provide the {} MiB of the budget: {}", bytes >> 20,
                            std::generic_category().message(error)));
}

}  // namespace

Result<MappedMemory> MappedMemory::create(size_t bytes, bool prefault) {
  TAILRACE_REQUIRE(bytes > 0);
  TAILRACE_REQUIRE(bytes % 4096 == 0);
  // The kernel would promise more than the machine has, and kill the process when it touches the memory.
  const uint64_t physical = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(getpagesize());
  if (bytes > physical) {
    return Status(TAILRACE_OUT_OF_MEMORY, fmt::format("memory: the budget is {} MiB, and this machine has {} MiB",
                                                      bytes >> 20, physical >> 20));
  }
  const char* kind = "explicit";
  const size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  size_t mapped = whole;
  void* mapping = map_anonymous(mapped, MAP_HUGETLB);
  std::byte* begin = static_cast<std::byte*>(mapping);
  if (mapping == nullptr) {
    // Maps one huge page more than needed, so that the pool can begin at a huge page's boundary.
    kind = "transparent";
    if (Status there = prefault ? check_available(bytes) : Status(); !there.ok()) return there;
    mapped = whole + kHugePage;
    mapping = map_anonymous(mapped, MAP_NORESERVE);
    if (mapping == nullptr) return no_memory(bytes, errno);
    const auto address = reinterpret_cast<uintptr_t>(mapping);
    begin = reinterpret_cast<std::byte*>((address + kHugePage - 1) / kHugePage * kHugePage);
    madvise(begin, whole, MADV_HUGEPAGE);  // best effort
  }
  MappedMemory memory(mapping, mapped, {begin, bytes});
  // A child of the application needs none of this, and copying touched (or pinned) pages would stall the fork.
  madvise(begin, whole, MADV_DONTFORK);
  memory.description_ = fmt::format("{:.4g} MiB, {} huge pages, touched {}", static_cast<double>(bytes) / 1048576.0,
                                    kind, prefault ? "beside the program" : "when used");
  return memory;
}

Status MappedMemory::take(size_t offset, size_t size) const {
  const int error = touch(bytes_.data() + offset, size);
  return error == 0 ? Status() : no_memory(bytes_.size(), error);
}

bool MappedMemory::take_aside(size_t offset, size_t size) const {
  // The number of explicit pages may be limited; touching more of them would raise a signal.
  if (has_explicit_pages()) return take(offset, size).ok();
  touch_one_by_one(bytes_.data() + offset, size);
  return true;
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
