// ObjectHeader: an object header of an HDF5 file, read without the library, to find the values in it that may be
// changed in place.
//
// Version 2 alone ("HDF5 File Format Specification", IV.A): messages in chunks, each with a checksum behind it. Takes
// nothing for granted: whatever is not as expected is not found. Pure functions over bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/request.hpp"

namespace tailrace::impl {

// Where a value lies in the file, and the chunk of a header that it is in, with its checksum.
struct HeaderField {
  Extent value;
  Extent chunk;
};

class ObjectHeader {
 public:
  // Reads bytes of the file from `offset` on; false if they are not all there.
  using Read = std::function<bool(uint64_t offset, std::span<std::byte> to)>;

  // Reads the header at `address`. Nothing if there is none whose chunks are all there and have their checksums.
  static std::optional<ObjectHeader> read(uint64_t address, const Read& read);

  // The value of an attribute that has `size` bytes.
  std::optional<HeaderField> attribute(std::string_view name, uint64_t size) const;
  // The name of a hard link in the header of a group.
  std::optional<HeaderField> link_name(std::string_view name) const;
  // The 8 bytes, the least significant first, that say where the raw data of a contiguous dataset begin.
  std::optional<HeaderField> raw_address() const;

 private:
  struct Chunk {
    Extent where;
    std::vector<std::byte> bytes;
  };
  struct Message {
    uint8_t type;
    uint8_t flags;
    size_t chunk;  // index into chunks_
    size_t begin;  // of its payload, in the chunk
    size_t size;
  };

  bool read_first(uint64_t address, const Read& read);
  bool read_continuations(const Read& read);
  bool add_chunk(const Extent& where, size_t messages, const Read& read);
  std::span<const std::byte> payload(const Message& message) const;
  HeaderField field(const Message& message, size_t begin, size_t size) const;
  const Message* only(uint8_t type) const;

  bool in_creation_order_ = false;  // messages say so, each in two bytes more
  std::vector<Chunk> chunks_;
  std::vector<Message> messages_;
};

// Makes the checksum at the end of a chunk that of the bytes before it.
void seal_chunk(std::span<std::byte> chunk);

// Puts a number into 8 bytes, the least significant first.
void put_number(uint64_t number, std::span<std::byte, 8> bytes);

}  // namespace tailrace::impl
