#include "model/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/names/counted.hpp"

namespace tailrace::impl {

std::vector<Access> taken_apart(const Access& access) {
  std::vector<Access> accesses;
  uint64_t offset = access.extent.offset;
  auto segment = access.segments.begin();
  uint64_t within = 0;  // bytes into the segment
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

Status end_of_piece(const Request& request, const Extent& extent, const Status& status) {
  const std::vector<Piece>& pieces = request.pieces;
  if (status.ok() || pieces.size() == 1) return status;
  const auto piece =
      std::find_if(pieces.begin(), pieces.end(), [&extent](const Piece& one) { return one.extent.overlaps(extent); });
  TAILRACE_ASSERT(piece != pieces.end());
  Fault fault = status.fault();
  fault.message += fmt::format(": piece {} of {}, {} at offset {}", piece - pieces.begin() + 1, pieces.size(),
                               counted(piece->extent.length, "byte"), piece->extent.offset);
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
