#include "engine/merge/join_adjacent.hpp"

#include <algorithm>
#include <tuple>

namespace tailrace::impl {
namespace {

auto position(const Access::Part& part) {
  return std::tuple(part.request->file, part.request->operation, part.piece.extent.offset);
}

bool extends(const Access& access, const Access::Part& part, const MergeLimits& limits) {
  return access.file == part.request->file && access.operation == part.request->operation &&
         access.extent.end() == part.piece.extent.offset &&
         access.extent.length + part.piece.extent.length <= limits.largest;
}

void append(Access& access, const Access::Part& part) {
  const iovec segment{part.piece.memory, part.piece.extent.length};
  access.extent.length += segment.iov_len;
  iovec& last = access.segments.back();
  if (static_cast<std::byte*>(last.iov_base) + last.iov_len == segment.iov_base) {
    last.iov_len += segment.iov_len;
  } else {
    access.segments.push_back(segment);
  }
  access.parts.push_back(part);
}

}  // namespace

std::vector<Access> join_adjacent(std::span<const Request* const> batch, const MergeLimits& limits) {
  std::vector<Access::Part> parts;
  for (const Request* request : batch) {
    TAILRACE_REQUIRE(request->moves_bytes());
    for (const Piece& piece : request->pieces) parts.push_back({request, piece});
  }
  std::sort(parts.begin(), parts.end(),
            [](const Access::Part& a, const Access::Part& b) { return position(a) < position(b); });
  std::vector<Access> accesses;
  for (const Access::Part& part : parts) {
    if (!accesses.empty() && extends(accesses.back(), part, limits)) {
      append(accesses.back(), part);
    } else {
      accesses.push_back(access_of(part));
    }
  }
  return accesses;
}

}  // namespace tailrace::impl
