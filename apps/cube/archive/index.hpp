// Index: which call paths have a row in a metric's data, and in which order (the member "<id>.index").
//
// Layout: "CUBEX.INDEX"; u32 1, by which the byte order of index and data is known; u16 version, 0; u8 format: 0 no
// rows are left out and no ids follow (as dense), 1 sparse, 3 dense. Sparse: u32 n, then n times u32 id.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "cube/archive/archive.hpp"

namespace tailrace::cube {

enum class ByteOrder : uint8_t { little, big };

// This machine's.
inline constexpr ByteOrder kNativeOrder =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

struct Index {
  ByteOrder order = ByteOrder::little;
  // The id of each row. Ids are places in the order of the metric's kind: see CallTree.
  std::vector<uint32_t> ids;
};

// Reads the index of a profile with that many call paths. Throws Error if an id occurs twice or is too large.
Index read_index(const Archive& archive, const Member& member, uint64_t call_paths);

// Returns the bytes of a sparse index; or of a dense one, which has all ids from 0 on.
std::string encode_index(const Index& index, bool dense = false);

}  // namespace tailrace::cube
