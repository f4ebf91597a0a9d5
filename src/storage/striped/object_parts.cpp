#include "storage/striped/object_parts.hpp"

#include <algorithm>

namespace tailrace::impl {

void ObjectPart::clear() {
  offset = length = 0;
  segments.clear();
  result = 0;
}

uint64_t length_of(std::span<const iovec> segments) {
  uint64_t length = 0;
  for (const iovec& segment : segments) length += segment.iov_len;
  return length;
}

uint64_t cut_into_parts(const StripeLayout& layout, uint64_t offset, std::span<const iovec> segments, size_t most,
                        std::span<ObjectPart> parts) {
  for (const iovec& segment : segments) {
    auto* at = static_cast<std::byte*>(segment.iov_base);
    for (uint64_t left = segment.iov_len; left > 0;) {
      const uint32_t object = layout.object_of(offset);
      ObjectPart& part = parts[object];
      if (part.segments.size() == most) return offset;
      const auto length = static_cast<size_t>(std::min(left, layout.left_in_stripe(offset)));
      if (part.length == 0) part.offset = layout.in_object(object, offset);
      part.segments.push_back({at, length});
      part.length += length;
      at += length;
      left -= length;
      offset += length;
    }
  }
  return offset;
}

void fill_with_zeros(const ObjectPart& part, uint64_t begin, uint64_t end) {
  uint64_t at = 0;
  for (const iovec& segment : part.segments) {
    const uint64_t from = std::max(begin, at);
    const uint64_t to = std::min(end, at + segment.iov_len);
    if (from < to) std::fill_n(static_cast<std::byte*>(segment.iov_base) + (from - at), to - from, std::byte{0});
    at += segment.iov_len;
  }
}

}  // namespace tailrace::impl
