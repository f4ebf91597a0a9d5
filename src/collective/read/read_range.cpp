#include "collective/read/read_range.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::collective {

ReadRange::ReadRange(uint64_t bytes) : bytes_(new std::byte[bytes]), has_((bytes + kBlock - 1) / kBlock) {}

void ReadRange::move(uint64_t begin, uint64_t end) {
  begin_ = begin;
  end_ = end;
  file_end_ = UINT64_MAX;
  has_.assign(has_.size(), false);
}

// Blocks that are missing and follow one another are read at once.
int ReadRange::fill(std::span<const tailrace_extent> pieces, Source& source) {
  constexpr uint64_t kNone = UINT64_MAX;
  uint64_t first = kNone;
  uint64_t last = 0;
  for (const tailrace_extent& piece : pieces) {
    const uint64_t end = block_of(piece.offset + piece.length - 1);
    for (uint64_t block = block_of(piece.offset); block <= end; ++block) {
      if (has_[block] || (first != kNone && block == last)) continue;
      if (first != kNone && block > last + 1) {
        if (const int error = read(first, last, source)) return error;
        first = kNone;
      }
      if (first == kNone) first = block;
      last = block;
    }
  }
  return first == kNone ? 0 : read(first, last, source);
}

int ReadRange::read(uint64_t first, uint64_t last, Source& source) {
  const uint64_t begin = begin_ + first * kBlock;
  const uint64_t length = std::min(begin_ + (last + 1) * kBlock, end_) - begin;
  const Source::End end = source.read(begin, {bytes_.get() + first * kBlock, length});
  if (end.error != 0) return end.error;
  if (end.bytes < length) file_end_ = std::min(file_end_, begin + end.bytes);
  for (uint64_t block = first; block <= last; ++block) has_[block] = true;
  return 0;
}

uint64_t ReadRange::copy(std::span<const tailrace_extent> pieces, std::byte* out) const {
  uint64_t copied = 0;
  for (const tailrace_extent& piece : pieces) {
    if (piece.offset >= file_end_) break;
    const uint64_t length = std::min(piece.length, file_end_ - piece.offset);
    std::memcpy(out + copied, bytes_.get() + (piece.offset - begin_), length);
    copied += length;
  }
  return copied;
}

}  // namespace tailrace::collective
