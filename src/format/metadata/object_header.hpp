// ObjectHeader: reads an object header of an HDF5 file without the library, to find values that may be changed in
// place.
//
// It supports only version 2 ("HDF5 File Format Specification", IV.A): messages in chunks, each followed by a
// checksum. It takes nothing for granted: a field that is not as expected is not found. Pure functions over bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/request.hpp"

namespace tailrace::impl {

// Types of messages.
enum class HeaderMessage : uint8_t {
  nil = 0x00,
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
  old_fill_value = 0x04,
  fill_value = 0x05,
  link = 0x06,
  layout = 0x08,
  group_info = 0x0a,
  attribute = 0x0c,
  comment = 0x0d,
  continuation = 0x10,
  attribute_info = 0x15
};

// The position of a value in the file, and the header chunk, with its checksum, that contains it.
struct HeaderField {
  Extent value;
  Extent chunk;
};

class ObjectHeader {
 public:
  // Reads bytes of the file from `offset` on; returns false if not all are there.
  using Read = std::function<bool(uint64_t offset, std::span<std::byte> to)>;

  // Reads the header at `address`. Returns none if there is no header whose chunks are complete with right checksums.
  static std::optional<ObjectHeader> read(uint64_t address, const Read& read);

  // Finds the value of an attribute, which has `size` bytes.
  std::optional<HeaderField> attribute(std::string_view name, uint64_t size) const;
  // Finds the name of a hard link in the header of a group, and the address that it leads to: 8 bytes, little-endian.
  std::optional<HeaderField> link_name(std::string_view name) const;
  std::optional<HeaderField> link_address(std::string_view name) const;
  // A hard link: its name, the address of an object header, and the number of the chunk that contains it.
  struct Link {
    std::string name;
    uint64_t address = 0;
    size_t chunk = 0;
  };
  // Returns the hard links in the header of a group; none if there is a link of another kind.
  std::optional<std::vector<Link>> links() const;
  // Returns the places of the header's chunks; the first one begins at the header's address.
  std::vector<Extent> chunks() const;
  // Finds the address of a contiguous dataset's raw data: 8 bytes, little-endian.
  std::optional<HeaderField> raw_address() const;
  // Returns the bytes of a header with the same messages in a single chunk, which may lie anywhere, also several
  // times. None if the header has times, or a message that may refer to something of this object alone, such as a
  // heap of attributes.
  std::optional<std::vector<std::byte>> in_one_chunk() const;

 private:
  struct Chunk {
    Extent where;
    std::vector<std::byte> bytes;
  };
  struct Message {
    HeaderMessage type;
    uint8_t flags;
    size_t chunk;  // index into chunks_
    size_t begin;  // of its payload, in the chunk
    size_t size;
  };

  // The parts of a link message's payload.
  struct LinkParts {
    size_t name = 0;  // where the name begins; the address follows it
    size_t name_bytes = 0;
  };

  bool read_first(uint64_t address, const Read& read);
  bool read_continuations(const Read& read);
  bool add_chunk(const Extent& where, size_t messages, const Read& read);
  std::span<const std::byte> payload(const Message& message) const;
  HeaderField field(const Message& message, size_t begin, size_t size) const;
  bool is_self_contained(const Message& message) const;
  std::optional<LinkParts> hard_link(const Message& message) const;
  const Message* only(HeaderMessage type) const;

  // Returns how many bytes are before a message's payload: type, size and flags, and perhaps its order.
  size_t bytes_before_payload() const { return in_creation_order_ ? 6 : 4; }

  bool in_creation_order_ = false;  // messages have two more bytes for their order
  std::vector<Chunk> chunks_;
  std::vector<Message> messages_;
};

// Updates the checksum at the end of a chunk.
void seal_chunk(std::span<std::byte> chunk);

// Writes a number into 8 bytes, little-endian.
void put_number(uint64_t number, std::span<std::byte, 8> bytes);

}  // namespace tailrace::impl
