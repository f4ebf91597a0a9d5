#include "cube/archive/header_sums.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "cube/archive/tar_layout.hpp"

namespace tailrace::cube {
namespace {

constexpr size_t kHeaderBytes = TarLayout::kHeaderBytes;
constexpr size_t kSizeField = 124, kSizeBytes = 12;
constexpr size_t kSumField = 148, kSumBytes = 8;
constexpr uint64_t kBlank = ' ';

using HeaderBytes = std::array<unsigned char, kHeaderBytes>;

// Returns the octal number of a field; GNU tar writes large ones in binary.
std::optional<uint64_t> number_in(const HeaderBytes& header, size_t field, size_t bytes) {
  if (header[field] >= 0x80) {
    uint64_t number = 0;
    for (size_t at = bytes - 8; at < bytes; ++at) number = number << 8 | header[field + at];
    return number;
  }
  std::string_view text(reinterpret_cast<const char*>(header.data()) + field, bytes);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 8);
  if (error != std::errc()) return std::nullopt;
  return number;
}

uint64_t sum_of(const HeaderBytes& header) {
  uint64_t sum = kSumBytes * kBlank;
  for (size_t at = 0; at < kHeaderBytes; ++at) {
    if (at < kSumField || at >= kSumField + kSumBytes) sum += header[at];
  }
  return sum;
}

}  // namespace

HeaderSums::HeaderSums(int descriptor) {
  HeaderBytes header;
  for (uint64_t at = 0; ::pread(descriptor, header.data(), kHeaderBytes, static_cast<off_t>(at)) == kHeaderBytes;) {
    const auto stored = number_in(header, kSumField, kSumBytes);
    const auto bytes = number_in(header, kSizeField, kSizeBytes);
    const uint64_t sum = sum_of(header);
    if (!stored || !bytes || *bytes > static_cast<uint64_t>(INT64_MAX) - at - 2 * kHeaderBytes) return;
    if (*stored + kBlank == sum || *stored == sum + kBlank) {
      Mended mended{at + kSumField, {}};
      std::snprintf(mended.text.data(), mended.text.size(), "%06llo", static_cast<unsigned long long>(sum));
      mended_.push_back(mended);
    } else if (*stored != sum) {
      return;
    }
    at += kHeaderBytes + (*bytes + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
  }
}

void HeaderSums::mend(uint64_t offset, std::span<std::byte> bytes) const {
  for (const Mended& mended : mended_) {
    for (size_t at = 0; at < mended.text.size(); ++at) {
      const uint64_t place = mended.offset + at;
      if (place >= offset && place - offset < bytes.size()) bytes[place - offset] = std::byte(mended.text[at]);
    }
  }
}

}  // namespace tailrace::cube
