// The head of each object of a striped file, byte by byte (docs/formats/striped.md). It takes the first block of the
// object; the file's bytes follow it.
//
// Bytes that files keep: fixed width, little-endian, versioned. Only object_head.cpp reads and writes it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

inline constexpr std::array<char, 8> kObjectMagic = {'t', 'r', 'S', 't', 'r', 'i', 'p', 'e'};
inline constexpr uint32_t kObjectVersion = 1;
// A multiple of the alignment of direct transfers, so that the head changes no alignment.
inline constexpr uint64_t kObjectHeadBytes = 4096;
inline constexpr size_t kMostObjectId = 36;  // characters
inline constexpr uint32_t kMostObjects = 64;
inline constexpr uint64_t kLeastStripe = 4096;  // each unit is a multiple of it
inline constexpr uint64_t kMostStripe = uint64_t{1} << 30;

struct ObjectWire {
  std::array<char, 8> magic = kObjectMagic;
  uint32_t version = kObjectVersion;
  uint32_t head_bytes = kObjectHeadBytes;  // the file's bytes begin here
  uint64_t unit = 0;                       // bytes of a stripe
  uint32_t count = 0;                      // objects of the file
  uint32_t index = 0;                      // of this object; 0 has the file's name
  uint32_t first = 0;                      // index of the object with the first stripe
  uint32_t zero = 0;
  std::array<char, 40> id = {};  // of the file: digits, a … f and hyphens, then zeros
  uint64_t checksum = 0;         // FNV-1a, 64 bits, of the head with zeros here
  // The directories of all objects, in their order, absolute when the file was made; each ends with a zero byte.
  std::array<char, 4008> directories = {};
};
static_assert(sizeof(ObjectWire) == kObjectHeadBytes);
static_assert(offsetof(ObjectWire, version) == 8);
static_assert(offsetof(ObjectWire, head_bytes) == 12);
static_assert(offsetof(ObjectWire, unit) == 16);
static_assert(offsetof(ObjectWire, count) == 24);
static_assert(offsetof(ObjectWire, index) == 28);
static_assert(offsetof(ObjectWire, first) == 32);
static_assert(offsetof(ObjectWire, zero) == 36);
static_assert(offsetof(ObjectWire, id) == 40);
static_assert(offsetof(ObjectWire, checksum) == 80);
static_assert(offsetof(ObjectWire, directories) == 88);
static_assert(std::is_trivially_copyable_v<ObjectWire>);
static_assert(std::endian::native == std::endian::little, "the head is little-endian");

}  // namespace tailrace::impl
