#include "format/metadata/object_header.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "format/metadata/commit_record.hpp"

namespace tailrace::impl {
namespace {

// Limits of what this reader accepts; our files are far below them.
constexpr size_t kMostChunks = size_t{1} << 14;
constexpr uint64_t kMostOfChunk = uint64_t{1} << 20;
constexpr uint64_t kMostOfHeader = uint64_t{64} << 20;

constexpr size_t kSignatureBytes = 4;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kAddressBytes = 8;

constexpr size_t kFlagsAt = 5;  // behind the signature and the version
constexpr uint64_t kSizeOfSize = 0x03, kWithCreationOrder = 0x04, kWithAttributeLimits = 0x10, kWithTimes = 0x20;

constexpr uint8_t kSharedMessage = 0x02;  // a flag: the payload is elsewhere

void put_little_endian(uint64_t number, std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(number & 0xff);
    number >>= 8;
  }
}

bool has_text(std::span<const std::byte> bytes, size_t at, std::string_view text) {
  if (at > bytes.size() || bytes.size() - at < text.size()) return false;
  const auto same = [](char expected, std::byte found) { return std::byte(expected) == found; };
  return std::equal(text.begin(), text.end(), bytes.begin() + static_cast<ptrdiff_t>(at), same);
}

bool is_sealed(std::span<const std::byte> chunk) {
  const size_t end = chunk.size() - kChecksumBytes;
  return little_endian(chunk, end, kChecksumBytes) == metadata_checksum(chunk.first(end));
}

}  // namespace

void put_number(uint64_t number, std::span<std::byte, 8> bytes) { put_little_endian(number, bytes); }

void seal_chunk(std::span<std::byte> chunk) {
  TAILRACE_REQUIRE(chunk.size() >= kChecksumBytes);
  const size_t end = chunk.size() - kChecksumBytes;
  put_little_endian(metadata_checksum(chunk.first(end)), chunk.subspan(end));
}

std::optional<ObjectHeader> ObjectHeader::read(uint64_t address, const Read& read) {
  ObjectHeader header;
  if (!header.read_first(address, read) || !header.read_continuations(read)) return std::nullopt;
  return header;
}

// Reads "OHDR", the version, the flags, and the fields before the messages that the flags announce.
bool ObjectHeader::read_first(uint64_t address, const Read& read) {
  std::array<std::byte, kFlagsAt + 1> start{};
  if (!read(address, start) || !has_text(start, 0, std::string_view("OHDR\2", kFlagsAt))) return false;
  const uint64_t flags = little_endian(start, kFlagsAt, 1);
  in_creation_order_ = (flags & kWithCreationOrder) != 0;
  const size_t optional = ((flags & kWithTimes) != 0 ? 16 : 0) + ((flags & kWithAttributeLimits) != 0 ? 4 : 0);
  const size_t width = size_t{1} << (flags & kSizeOfSize);
  std::array<std::byte, 8> size{};
  if (!read(address + start.size() + optional, std::span(size).first(width))) return false;
  const uint64_t length = little_endian(size, 0, width);  // of the messages
  const size_t messages = start.size() + optional + width;
  if (length > kMostOfChunk) return false;
  return add_chunk({address, messages + length + kChecksumBytes}, messages, read);
}

bool ObjectHeader::read_continuations(const Read& read) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < messages_.size(); ++i) {
    const Message message = messages_[i];  // the loop's body adds messages
    if (message.type != HeaderMessage::continuation) continue;
    const std::span<const std::byte> where = payload(message);
    if (where.size() < 16) return false;
    const Extent chunk{little_endian(where, 0, 8), little_endian(where, 8, 8)};
    if (chunk.length > kMostOfChunk || chunks_.size() == kMostChunks) return false;
    bytes += chunk.length;
    if (bytes > kMostOfHeader) return false;  // chunks may lead to themselves
    if (chunk.length < kSignatureBytes + kChecksumBytes) return false;
    if (!add_chunk(chunk, kSignatureBytes, read)) return false;
    if (!has_text(chunks_.back().bytes, 0, "OCHK")) return false;
  }
  return true;
}

// Adds a chunk whose messages begin `messages` bytes from its start. After the last message there may be a gap that
// is too small for another.
bool ObjectHeader::add_chunk(const Extent& where, size_t messages, const Read& read) {
  Chunk chunk{where, std::vector<std::byte>(where.length)};
  if (!read(where.offset, chunk.bytes) || !is_sealed(chunk.bytes)) return false;
  const size_t before = bytes_before_payload();
  const size_t end = chunk.bytes.size() - kChecksumBytes;
  for (size_t at = messages; at + before <= end;) {
    const Message message{static_cast<HeaderMessage>(little_endian(chunk.bytes, at, 1)),
                          static_cast<uint8_t>(little_endian(chunk.bytes, at + 3, 1)), chunks_.size(), at + before,
                          little_endian(chunk.bytes, at + 1, 2)};
    if (message.size > end - message.begin) return false;
    messages_.push_back(message);
    at = message.begin + message.size;
  }
  chunks_.push_back(std::move(chunk));
  return true;
}

std::span<const std::byte> ObjectHeader::payload(const Message& message) const {
  return std::span(chunks_[message.chunk].bytes).subspan(message.begin, message.size);
}

HeaderField ObjectHeader::field(const Message& message, size_t begin, size_t size) const {
  const Extent& chunk = chunks_[message.chunk].where;
  return {{chunk.offset + message.begin + begin, size}, chunk};
}

// Version 3: name, type and space back to back, then the value.
std::optional<HeaderField> ObjectHeader::attribute(std::string_view name, uint64_t size) const {
  constexpr size_t name_at = 9;
  for (const Message& message : messages_) {
    if (message.type != HeaderMessage::attribute || (message.flags & kSharedMessage) != 0) continue;
    const std::span<const std::byte> found = payload(message);
    if (found.size() < name_at || little_endian(found, 0, 1) != 3) return std::nullopt;
    const size_t name_bytes = little_endian(found, 2, 2);  // with the NUL at its end
    if (name_bytes != name.size() + 1 || !has_text(found, name_at, name)) continue;
    if (little_endian(found, 1, 1) != 0) return std::nullopt;  // its type or space is elsewhere
    const size_t value_at = name_at + name_bytes + little_endian(found, 4, 2) + little_endian(found, 6, 2);
    if (value_at > found.size() || found.size() - value_at != size) return std::nullopt;
    return field(message, value_at, size);
  }
  return std::nullopt;
}

// Returns the parts of a hard link, which need not say its type; none for any other message.
std::optional<ObjectHeader::LinkParts> ObjectHeader::hard_link(const Message& message) const {
  constexpr uint64_t size_of_size = 0x03, with_creation_order = 0x04, with_type = 0x08, with_character_set = 0x10;
  if (message.type != HeaderMessage::link || (message.flags & kSharedMessage) != 0) return std::nullopt;
  const std::span<const std::byte> found = payload(message);
  if (found.size() < 2 || little_endian(found, 0, 1) != 1) return std::nullopt;
  const uint64_t flags = little_endian(found, 1, 1);
  if ((flags & with_type) != 0) return std::nullopt;
  const size_t width = size_t{1} << (flags & size_of_size);
  const size_t size_at =
      2 + ((flags & with_creation_order) != 0 ? 8 : 0) + ((flags & with_character_set) != 0 ? 1 : 0);
  if (found.size() < size_at + width) return std::nullopt;
  const LinkParts parts{size_at + width, little_endian(found, size_at, width)};
  const size_t left = found.size() - parts.name;
  if (left < kAddressBytes || parts.name_bytes > left - kAddressBytes) return std::nullopt;
  return parts;
}

std::optional<HeaderField> ObjectHeader::link_name(std::string_view name) const {
  for (const Message& message : messages_) {
    const std::optional<LinkParts> parts = hard_link(message);
    if (!parts || parts->name_bytes != name.size()) continue;
    if (has_text(payload(message), parts->name, name)) return field(message, parts->name, name.size());
  }
  return std::nullopt;
}

std::optional<HeaderField> ObjectHeader::link_address(std::string_view name) const {
  std::optional<HeaderField> found = link_name(name);
  if (found) found->value = {found->value.end(), kAddressBytes};
  return found;
}

std::optional<std::vector<ObjectHeader::Link>> ObjectHeader::links() const {
  std::vector<Link> links;
  for (const Message& message : messages_) {
    if (message.type != HeaderMessage::link) continue;
    const std::optional<LinkParts> parts = hard_link(message);
    if (!parts) return std::nullopt;
    const std::span<const std::byte> found = payload(message);
    const std::span<const std::byte> name = found.subspan(parts->name, parts->name_bytes);
    links.push_back({std::string(reinterpret_cast<const char*>(name.data()), name.size()),
                     little_endian(found, parts->name + parts->name_bytes, kAddressBytes), message.chunk});
  }
  return links;
}

std::vector<Extent> ObjectHeader::chunks() const {
  std::vector<Extent> places;
  places.reserve(chunks_.size());
  for (const Chunk& chunk : chunks_) places.push_back(chunk.where);
  return places;
}

// Version 3, class 1: address and size.
std::optional<HeaderField> ObjectHeader::raw_address() const {
  const Message* const message = only(HeaderMessage::layout);
  if (message == nullptr) return std::nullopt;
  const std::span<const std::byte> found = payload(*message);
  if (found.size() < 18 || little_endian(found, 0, 1) != 3 || little_endian(found, 1, 1) != 1) return std::nullopt;
  return field(*message, 2, 8);
}

// Only what is known to refer to nothing else. Of a layout, the caller replaces the place of the raw data.
bool ObjectHeader::is_self_contained(const Message& message) const {
  if ((message.flags & kSharedMessage) != 0) return false;
  switch (message.type) {
    case HeaderMessage::dataspace:
    case HeaderMessage::datatype:
    case HeaderMessage::old_fill_value:
    case HeaderMessage::fill_value:
    case HeaderMessage::layout:
    case HeaderMessage::attribute:
    case HeaderMessage::comment: return true;
    case HeaderMessage::attribute_info: {
      // Version, flags, perhaps the largest index so far, and the address of the heap.
      constexpr uint64_t with_index = 1;
      const std::span<const std::byte> info = payload(message);
      const size_t heap_at = info.size() > 1 && (little_endian(info, 1, 1) & with_index) != 0 ? 4 : 2;
      return info.size() >= heap_at + 8 && little_endian(info, heap_at, 8) == UINT64_MAX;
    }
    default: return false;
  }
}

std::optional<std::vector<std::byte>> ObjectHeader::in_one_chunk() const {
  constexpr size_t width = 4;  // of the size
  constexpr uint64_t size_of_width = 2;
  const std::span<const std::byte> first = chunks_[0].bytes;
  const uint64_t flags = little_endian(first, kFlagsAt, 1);
  if ((flags & kWithTimes) != 0) return std::nullopt;
  const size_t size_at = kFlagsAt + 1 + ((flags & kWithAttributeLimits) != 0 ? 4 : 0);
  std::vector<std::byte> bytes(first.begin(), first.begin() + static_cast<ptrdiff_t>(size_at));
  bytes[kFlagsAt] = static_cast<std::byte>((flags & ~kSizeOfSize) | size_of_width);
  bytes.resize(size_at + width);
  for (const Message& message : messages_) {
    if (message.type == HeaderMessage::nil || message.type == HeaderMessage::continuation) continue;
    if (!is_self_contained(message)) return std::nullopt;
    const size_t before = bytes_before_payload();
    const auto whole = std::span(chunks_[message.chunk].bytes).subspan(message.begin - before, before + message.size);
    bytes.insert(bytes.end(), whole.begin(), whole.end());
  }
  put_little_endian(bytes.size() - size_at - width, std::span(bytes).subspan(size_at, width));
  bytes.resize(bytes.size() + kChecksumBytes);
  seal_chunk(bytes);
  return bytes;
}

// Returns the only message of a type; null if there are none or several.
const ObjectHeader::Message* ObjectHeader::only(HeaderMessage type) const {
  const Message* found = nullptr;
  for (const Message& message : messages_) {
    if (message.type != type) continue;
    if (found != nullptr || (message.flags & kSharedMessage) != 0) return nullptr;
    found = &message;
  }
  return found;
}

}  // namespace tailrace::impl
