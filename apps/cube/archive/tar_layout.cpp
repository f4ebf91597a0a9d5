#include "cube/archive/tar_layout.hpp"

#include <cstdio>
#include <cstring>

#include "cube/archive/error.hpp"

namespace tailrace::cube {
namespace {

constexpr uint64_t kRecord = TarLayout::kHeaderBytes;

// POSIX.1-1988 ustar, with GNU's binary sizes from 8 GiB on.
struct Header {
  char name[100];
  char mode[8];
  char owner[8];
  char group[8];
  char bytes[12];
  char time[12];
  char checksum[8];
  char kind;
  char link[100];
  char magic[6];
  char version[2];
  char rest[247];
};
static_assert(sizeof(Header) == kRecord);

void write_bytes(Header& header, uint64_t bytes) {
  constexpr uint64_t kMostOctal = uint64_t{1} << 33;
  if (bytes < kMostOctal) {
    std::snprintf(header.bytes, sizeof header.bytes, "%011llo", static_cast<unsigned long long>(bytes));
    return;
  }
  std::memset(header.bytes, 0, sizeof header.bytes);
  header.bytes[0] = static_cast<char>(0x80);
  for (size_t at = 0; at < sizeof bytes; ++at) {
    header.bytes[sizeof header.bytes - 1 - at] = static_cast<char>(bytes >> (8 * at));
  }
}

}  // namespace

TarLayout::Place TarLayout::add(const std::string& name, uint64_t bytes) {
  Header header{};
  if (name.size() >= sizeof header.name) throw Error("expected a member's name of less than 100 letters: " + name);
  std::memcpy(header.name, name.data(), name.size());
  std::memcpy(header.mode, "0000644", 8);
  std::memcpy(header.owner, "0000000", 8);
  std::memcpy(header.group, "0000000", 8);
  write_bytes(header, bytes);
  std::memcpy(header.time, "00000000000", 12);
  std::memset(header.checksum, ' ', sizeof header.checksum);
  header.kind = '0';
  std::memcpy(header.magic, "ustar", 6);
  std::memcpy(header.version, "00", 2);
  unsigned sum = 0;
  for (const unsigned char letter : std::string(reinterpret_cast<const char*>(&header), sizeof header)) sum += letter;
  std::snprintf(header.checksum, sizeof header.checksum, "%06o", sum);  // then a blank

  Place place;
  place.header = next_;
  place.header_bytes.assign(reinterpret_cast<const char*>(&header), sizeof header);
  place.offset = next_ + kRecord;
  place.padding = (kRecord - bytes % kRecord) % kRecord;
  next_ = place.offset + bytes + place.padding;
  return place;
}

}  // namespace tailrace::cube
