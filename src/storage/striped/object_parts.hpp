// ObjectPart: the part of a transfer that one object of a striped file gets.
//
// Pure functions over lists of segments: they cut the list of a transfer at the borders of stripes, and copy no byte.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/striped/stripe_layout.hpp"

namespace tailrace::impl {

struct ObjectPart {
  uint64_t offset = 0;  // in the object
  uint64_t length = 0;  // of the segments together
  std::vector<iovec> segments = {};
  int64_t result = 0;  // of its transfer, once that has ended

  // Empties it, and keeps the memory of its list.
  void clear();
};

uint64_t length_of(std::span<const iovec> segments);

// Distributes the transfer of `segments` from `offset` of the file on over the parts, which are empty: one an object,
// by its index. Ends before a part would have more than `most` segments. Returns the offset in the file where it
// ended.
uint64_t cut_into_parts(const StripeLayout& layout, uint64_t offset, std::span<const iovec> segments, size_t most,
                        std::span<ObjectPart> parts);

// Fills the part's memory from its byte `begin` to its byte `end` with zeros.
void fill_with_zeros(const ObjectPart& part, uint64_t begin, uint64_t end);

}  // namespace tailrace::impl
