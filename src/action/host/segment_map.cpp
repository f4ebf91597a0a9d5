#include "action/host/segment_map.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include "base/names/counted.hpp"

namespace tailrace::impl {

void SegmentMap::add(uint64_t number, int fd, uint64_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, bytes, MADV_DONTDUMP);  // keeps data out of core dumps: a crash is the plugin's
  segments_[number] = {static_cast<const std::byte*>(memory), bytes};
}

void SegmentMap::forget(uint64_t number) {
  const auto found = segments_.find(number);
  if (found == segments_.end()) return;
  auto* memory = const_cast<std::byte*>(found->second.data());  // only its mapping is replaced
  ::mmap(memory, found->second.size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  segments_.erase(found);
}

Result<const std::byte*> SegmentMap::find(uint64_t number, uint64_t offset, uint64_t length) const {
  const auto found = segments_.find(number);
  if (found == segments_.end()) {
    return Status(TAILRACE_INTERNAL, fmt::format("found no shared memory {}, expected it to be mapped", number));
  }
  const std::span<const std::byte> segment = found->second;
  if (offset > segment.size() || length > segment.size() - offset) {
    return Status(TAILRACE_INTERNAL, fmt::format("found a block at {} of {}, expected it in {}", offset,
                                                 counted(length, "byte"), counted(segment.size(), "byte")));
  }
  return segment.data() + offset;
}

}  // namespace tailrace::impl
