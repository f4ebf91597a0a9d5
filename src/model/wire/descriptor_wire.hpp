// Descriptor: one verb of a client on its way to the server, in 64 bytes.
//
// It travels through a ring, which lies in shared memory in place `core`. It has fixed width, and no pointers that
// the other side must follow unless both share an address space. The server trusts none of it unchecked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

inline constexpr uint64_t kNoTicket = 0;
inline constexpr uint32_t kMaxEvent = 31;  // bytes of an event's name
inline constexpr uint32_t kNoVariable = UINT32_MAX;

enum class Verb : uint8_t {
  write = 1,   // a block of the pool; returns to the pool at the verb's end
  borrow = 2,  // a block in the client's own memory
  read = 3,    // into the client's own memory
  end_iteration = 4,
  drop_iteration = 5,
  flush = 6,
  signal = 7,
  parameter = 8,  // a new value of one parameter; values of one call take effect together, with the last
  // Verbs of raw files (file_wire.hpp). `variable` is the client's number of the file; each file opened gets a larger
  // one.
  file_open = 9,    // a block of the pool with mode and path; the client keeps the block
  file_write = 10,  // a block with a list of extents and their bytes; returns to the pool at the verb's end
  file_read = 11,   // a block with a list of extents and room for their bytes; the client keeps the block
  file_sync = 12,
  file_close = 13,     // the block of its file_open; returns to the pool at the verb's end
  file_write_at = 14,  // a block with the bytes of one extent, and no list; else like file_write
  file_borrow = 15,    // the bytes of one extent in the client's own memory
  close = 16,          // like flush; also, no iteration of the client waits for clients that have not come yet
  file_size = 17,      // the server writes the answer into the block of its file_open (FileOpening::size)
  file_truncate = 18,  // to `range.length` bytes
  file_allocate = 19,  // the range
  file_remove = 20,    // a block with the path, as for file_open; the client keeps it; concerns no open file
  attribute = 21       // a part of an attribute of the iteration, or of a variable in it (attribute_wire.hpp)
};

// Returns true if the verb concerns a raw file, and so no variable or iteration.
constexpr bool is_of_file(Verb verb) {
  return (verb >= Verb::file_open && verb <= Verb::file_borrow) ||
         (verb >= Verb::file_size && verb <= Verb::file_remove);
}
// Returns true if the verb ends when all verbs before it have ended.
constexpr bool is_flush(Verb verb) { return verb == Verb::flush || verb == Verb::close; }
constexpr bool writes_file(Verb verb) {
  return verb == Verb::file_write || verb == Verb::file_write_at || verb == Verb::file_borrow;
}
// Returns true if the block of this raw-file verb returns to the pool at the verb's end.
constexpr bool gives_file_block(Verb verb) {
  return verb == Verb::file_write || verb == Verb::file_write_at || verb == Verb::file_close;
}

struct Descriptor {
  Verb verb = Verb::flush;
  uint8_t reserved8 = 0;
  uint16_t reserved16 = 0;
  // Index into the configuration's variables; for parameter and file_*: of that object; for an attribute of the
  // iteration: kNoVariable.
  uint32_t variable = 0;
  int64_t iteration = -1;
  uint64_t sequence = 0;        // 1, 2, 3, … per client
  uint64_t ticket = kNoTicket;  // ends with the verb
  struct Bytes {
    uint64_t address = 0;  // write, file_*: offset in the pool; borrow, read, file_borrow: address in the client
    uint64_t length = 0;
    uint32_t block = 0;  // write, file_*: index of the pool's block
    uint32_t reserved = 0;
    int64_t handed = 0;  // time of the hand-over, in nanoseconds of a clock that both sides share
  };
  // Bytes with an extent. Members that Bytes has too may be read through either.
  struct BytesAt {
    uint64_t address;
    uint64_t offset;  // in the file
    uint32_t block;
    uint32_t length;
    int64_t handed;
  };
  // A range of a file.
  struct Range {
    uint64_t offset;
    uint64_t length;
  };
  struct Setting {
    int64_t value;
    uint32_t index;  // its index among the settings that take effect together, from 0
    uint32_t count;  // the number of these settings
    double real;     // the value, if it is a real number
    uint8_t is_real;
    uint8_t reserved[7];
  };
  // Bytes of an attribute.
  struct Part {
    uint16_t index;  // from 0
    uint16_t count;  // of all parts
    uint8_t length;  // of these bytes
    uint8_t reserved[3];
    uint8_t bytes[24];
  };
  union {
    Bytes bytes = {};
    BytesAt at;                 // file_write_at, file_borrow
    Range range;                // file_truncate, file_allocate
    Setting setting;            // parameter
    char event[kMaxEvent + 1];  // signal: UTF-8, ended by NUL
    Part part;                  // attribute
    uint64_t waited;            // end_iteration: nanoseconds that the client has waited for memory since the last one
    uint64_t unfinished;        // drop_iteration: the number of unfinished ones (the limit); 0: memory was full
  };

  // Returns the bytes of the block, for a verb that has one.
  uint64_t block_bytes() const { return verb == Verb::file_write_at ? at.length : bytes.length; }
};

static_assert(sizeof(Descriptor) == 64);
static_assert(offsetof(Descriptor, variable) == 4);
static_assert(offsetof(Descriptor, iteration) == 8);
static_assert(offsetof(Descriptor, sequence) == 16);
static_assert(offsetof(Descriptor, ticket) == 24);
static_assert(offsetof(Descriptor, bytes) == 32);
static_assert(offsetof(Descriptor, at) == 32);
static_assert(sizeof(Descriptor::BytesAt) == sizeof(Descriptor::Bytes));
static_assert(offsetof(Descriptor, range) == 32);
static_assert(sizeof(Descriptor::Range) == 16);
static_assert(offsetof(Descriptor, event) == 32);
static_assert(offsetof(Descriptor, waited) == 32);
static_assert(offsetof(Descriptor, unfinished) == 32);
static_assert(offsetof(Descriptor, setting) == 32);
static_assert(sizeof(Descriptor::Setting) == 32);
static_assert(offsetof(Descriptor, part) == 32);
static_assert(sizeof(Descriptor::Part) == 32);
static_assert(std::is_trivially_copyable_v<Descriptor>);

}  // namespace tailrace::impl
