// ChangedPieces: the bytes of an image in its pieces, some of them changed. A piece is copied before it is changed,
// as other plans may share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/format.hpp"
#include "format/metadata/object_header.hpp"

namespace tailrace::impl {

class ChangedPieces {
 public:
  // `pieces` are in order and outlive this object.
  explicit ChangedPieces(std::vector<MetadataPiece>& pieces) : pieces_(pieces), copies_(pieces.size()) {}

  // Returns false if not all bytes are there.
  bool read(uint64_t offset, std::span<std::byte> to) const;
  // Reads the object header at `address`.
  std::optional<ObjectHeader> header_at(uint64_t address) const;
  // Writes `value` into a field of the same size.
  void set(const HeaderField& field, std::span<const std::byte> value);
  // Replaces the pieces by their changed copies.
  void finish();

 private:
  size_t find(uint64_t offset) const;
  std::span<const std::byte> bytes_of(size_t i) const;
  void write(uint64_t offset, std::span<const std::byte> from);

  std::vector<MetadataPiece>& pieces_;
  std::vector<std::vector<std::byte>> copies_;  // by piece; empty: unchanged
};

}  // namespace tailrace::impl
