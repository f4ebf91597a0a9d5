#include "format/metadata/commit_record.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

constexpr std::array<unsigned char, 8> kSignature = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

// Offsets of the superblock's fields.
constexpr size_t kVersion = 8;
constexpr size_t kOffsetSize = 9;
constexpr size_t kLengthSize = 10;
constexpr size_t kBase = 12;
constexpr size_t kExtension = 20;
constexpr size_t kEnd = 28;
constexpr size_t kRoot = 36;
constexpr size_t kChecksum = 44;

bool same_byte(unsigned char expected, std::byte found) { return std::byte{expected} == found; }

// The three words of lookup3's state.
struct Mixer {
  uint32_t a, b, c;

  void add(std::span<const std::byte> twelve) {
    a += static_cast<uint32_t>(little_endian(twelve, 0, 4));
    b += static_cast<uint32_t>(little_endian(twelve, 4, 4));
    c += static_cast<uint32_t>(little_endian(twelve, 8, 4));
  }

  void mix() {
    const auto step = [](uint32_t& x, uint32_t& y, uint32_t& z, int turn) {
      x = (x - z) ^ std::rotl(z, turn);
      z += y;
    };
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
  }

  void finish() {
    const auto step = [](uint32_t& x, uint32_t y, int turn) { x = (x ^ y) - std::rotl(y, turn); };
    step(c, b, 14);
    step(a, c, 11);
    step(b, a, 25);
    step(c, b, 16);
    step(a, c, 4);
    step(b, a, 14);
    step(c, b, 24);
  }
};

}  // namespace

uint64_t little_endian(std::span<const std::byte> bytes, size_t at, size_t size) {
  TAILRACE_ASSERT(at + size <= bytes.size());
  uint64_t value = 0;
  for (size_t i = size; i > 0; --i) value = value << 8 | std::to_integer<uint64_t>(bytes[at + i - 1]);
  return value;
}

uint32_t metadata_checksum(std::span<const std::byte> bytes) {
  constexpr size_t step = 12;
  const uint32_t begin = 0xdeadbeef + static_cast<uint32_t>(bytes.size());
  Mixer mixer{begin, begin, begin};
  if (bytes.empty()) return mixer.c;
  while (bytes.size() > step) {
    mixer.add(bytes.first(step));
    mixer.mix();
    bytes = bytes.subspan(step);
  }
  std::array<std::byte, step> last{};
  std::copy(bytes.begin(), bytes.end(), last.begin());
  mixer.add(last);
  mixer.finish();
  return mixer.c;
}

bool has_root(std::span<const std::byte> bytes) {
  constexpr std::array<unsigned char, 5> start = {'O', 'H', 'D', 'R', 2};
  constexpr size_t flags_at = 5;
  constexpr uint64_t with_times = 0x20, with_attribute_limits = 0x10, size_of_size = 0x03;
  constexpr size_t longest_prefix = 34;
  if (bytes.size() < longest_prefix) return false;
  if (!std::equal(start.begin(), start.end(), bytes.begin(), same_byte)) return false;
  const uint64_t flags = little_endian(bytes, flags_at, 1);
  size_t at = flags_at + 1;
  if ((flags & with_times) != 0) at += 16;
  if ((flags & with_attribute_limits) != 0) at += 4;
  const size_t width = size_t{1} << (flags & size_of_size);
  const uint64_t length =
      little_endian(bytes, at, width);  // of the messages that follow, without the checksum after them
  at += width;
  if (length > bytes.size() - at || bytes.size() - at - length < sizeof(uint32_t)) return false;
  const size_t end = at + length;
  return little_endian(bytes, end, sizeof(uint32_t)) == metadata_checksum(bytes.first(end));
}

std::optional<CommitRecord> parse_commit_record(std::span<const std::byte> head) {
  if (head.size() < kSuperblockBytes) return std::nullopt;
  if (!std::equal(kSignature.begin(), kSignature.end(), head.begin(), same_byte)) return std::nullopt;
  const uint64_t version = little_endian(head, kVersion, 1);
  if (version != 2 && version != 3) return std::nullopt;
  if (little_endian(head, kOffsetSize, 1) != 8 || little_endian(head, kLengthSize, 1) != 8) return std::nullopt;
  if (little_endian(head, kChecksum, 4) != metadata_checksum(head.first(kChecksum))) return std::nullopt;
  if (little_endian(head, kBase, 8) != 0 || little_endian(head, kExtension, 8) != kUndefinedAddress)
    return std::nullopt;
  const CommitRecord record{little_endian(head, kEnd, 8), little_endian(head, kRoot, 8)};
  if (record.root < kSuperblockBytes || record.root >= record.end) return std::nullopt;
  return record;
}

void put_end(uint64_t end, std::span<std::byte> superblock) {
  TAILRACE_REQUIRE(superblock.size() >= kSuperblockBytes);
  const auto put = [&superblock](uint64_t number, size_t at, size_t size) {
    for (size_t i = 0; i < size; ++i) superblock[at + i] = static_cast<std::byte>(number >> (8 * i) & 0xff);
  };
  put(end, kEnd, 8);
  put(metadata_checksum(superblock.first(kChecksum)), kChecksum, 4);
}

}  // namespace tailrace::impl
