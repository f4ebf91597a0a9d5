#include "format/image/changed_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {

bool ChangedPieces::read(uint64_t offset, std::span<std::byte> to) const {
  for (size_t i = find(offset); !to.empty(); ++i) {
    if (i >= pieces_.size() || pieces_[i].offset > offset || pieces_[i].end() <= offset) return false;
    const std::span<const std::byte> from = bytes_of(i).subspan(offset - pieces_[i].offset);
    const size_t count = std::min(from.size(), to.size());
    std::memcpy(to.data(), from.data(), count);
    offset += count;
    to = to.subspan(count);
  }
  return true;
}

std::optional<ObjectHeader> ChangedPieces::header_at(uint64_t address) const {
  return ObjectHeader::read(address, [this](uint64_t offset, std::span<std::byte> to) { return read(offset, to); });
}

void ChangedPieces::set(const HeaderField& field, std::span<const std::byte> value) {
  TAILRACE_ASSERT(value.size() == field.value.length);
  std::vector<std::byte> chunk(field.chunk.length);
  const bool there = read(field.chunk.offset, chunk);
  TAILRACE_ASSERT(there);
  std::copy(value.begin(), value.end(),
            chunk.begin() + static_cast<ptrdiff_t>(field.value.offset - field.chunk.offset));
  seal_chunk(chunk);
  write(field.chunk.offset, chunk);
}

void ChangedPieces::finish() {
  for (size_t i = 0; i < copies_.size(); ++i) {
    if (!copies_[i].empty()) pieces_[i].bytes = std::move(copies_[i]);
  }
}

// Returns the piece that contains the byte at `offset`, if there is one.
size_t ChangedPieces::find(uint64_t offset) const {
  const auto behind = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                       [](uint64_t at, const MetadataPiece& piece) { return at < piece.offset; });
  return behind == pieces_.begin() ? pieces_.size() : static_cast<size_t>(behind - pieces_.begin()) - 1;
}

std::span<const std::byte> ChangedPieces::bytes_of(size_t i) const {
  return copies_[i].empty() ? pieces_[i].bytes.all() : std::span<const std::byte>(copies_[i]);
}

// Requires that all bytes are there.
void ChangedPieces::write(uint64_t offset, std::span<const std::byte> from) {
  for (size_t i = find(offset); !from.empty(); ++i) {
    if (copies_[i].empty()) copies_[i].assign(bytes_of(i).begin(), bytes_of(i).end());
    const std::span<std::byte> to = std::span(copies_[i]).subspan(offset - pieces_[i].offset);
    const size_t count = std::min(from.size(), to.size());
    std::memcpy(to.data(), from.data(), count);
    offset += count;
    from = from.subspan(count);
  }
}

}  // namespace tailrace::impl
