// The layout of a sealed message: a head, then the encrypted body and the tag of the bulk data, then the tag of all
// this. Bytes that travel between nodes: fixed width, little-endian, versioned. seal.hpp says what it achieves.
//
//   SealHead | body | tag of the bulk data | tag
//   readable   ── encrypted ─────────────
//   ── covered by the tag ───────────────
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

static_assert(std::endian::native == std::endian::little, "the numbers of a sealed message are little-endian");

inline constexpr uint32_t kSealVersion = 2;
inline constexpr size_t kSealTag = 16;                         // bytes
inline constexpr size_t kMostSealed = size_t{32} << 10;        // bytes of a message: Transport::kMostHead
inline constexpr uint64_t kSequenceLimit = uint64_t{1} << 63;  // all numbers are below
inline constexpr uint32_t kBulkIsEncrypted = 1;                // a flag

struct SealHead {
  uint32_t version = kSealVersion;
  uint32_t flags = 0;
  uint64_t sequence = 0;  // the message's number: 0, 1, … in each direction of a session
  uint64_t bulk = 0;      // bytes of bulk data
};
static_assert(sizeof(SealHead) == 24);
static_assert(offsetof(SealHead, flags) == 4);
static_assert(offsetof(SealHead, sequence) == 8);
static_assert(offsetof(SealHead, bulk) == 16);
static_assert(std::is_trivially_copyable_v<SealHead>);

inline constexpr size_t kSealOverhead = sizeof(SealHead) + 2 * kSealTag;
inline constexpr size_t kMostSealedBody = kMostSealed - kSealOverhead;

}  // namespace tailrace::impl
