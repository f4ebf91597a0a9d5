#include "model/access.hpp"

namespace tailrace::impl {

std::vector<Access> taken_apart(const Access& access) {
  std::vector<Access> accesses;
  uint64_t offset = access.extent.offset;
  auto segment = access.segments.begin();
  uint64_t within = 0;  // the segment
  for (const Access::Part& part : access.parts) {
    TAILRACE_ASSERT(segment != access.segments.end());
    if (part.request != nullptr) {
      std::byte* const memory = static_cast<std::byte*>(segment->iov_base) + within;
      accesses.push_back(access_of(*part.request, {{offset, part.length}, memory}));
    }
    offset += part.length;
    within += part.length;
    if (within < segment->iov_len) continue;
    ++segment;
    within = 0;
  }
  return accesses;
}

}  // namespace tailrace::impl
