// The messages between a client and the server of its node when they meet (place `core`), and the records that the
// server writes so that another can go on after its death. Bytes shared between processes: fixed width, versioned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "model/wire/descriptor_wire.hpp"
#include "model/wire/failure_wire.hpp"

namespace tailrace::impl {

inline constexpr uint64_t kCoreMagic = 0x65636172'6c696174;  // "tailrace", little-endian
inline constexpr uint32_t kCoreVersion = 10;
inline constexpr uint64_t kMostConfiguration = uint64_t{32} << 20;  // bytes of a client's configuration

// client → server, first of all; with one descriptor: a file with the configuration.
struct Hello {
  uint64_t magic = kCoreMagic;
  uint32_t version = kCoreVersion;
  int32_t client = 0;
  uint32_t again = 0;  // 1: the client has a segment already, from a server that has died
  uint32_t reserved = 0;
  uint64_t configuration = 0;  // bytes
};
static_assert(sizeof(Hello) == 32);
static_assert(std::is_trivially_copyable_v<Hello>);

// server → client; with two descriptors if it is welcome: its segment, and the event counter that wakes the server.
struct Welcome {
  uint64_t magic = kCoreMagic;
  uint32_t version = kCoreVersion;
  int32_t server = 0;  // its process
  // Number of variables of the segment; see ChannelSizes.
  uint32_t variables = 0;
  uint32_t ring = 0;
  uint32_t tickets = 0;
  uint32_t blocks = 0;
  uint64_t pool = 0;           // bytes
  char description[256] = {};  // of the server; UTF-8, ended by NUL
  FailureRecord refusal;       // why it is not welcome; its code is TAILRACE_OK if it is
};
static_assert(sizeof(Welcome) == 1320);
static_assert(offsetof(Welcome, pool) == 32);
static_assert(std::is_trivially_copyable_v<Welcome>);

// client → server: everything of the client has ended, and it goes. Its connection closes after it.
struct Goodbye {
  uint64_t magic = kCoreMagic;
  uint32_t version = kCoreVersion;
  uint32_t reserved = 0;
};
static_assert(sizeof(Goodbye) == 16);

// When the processes of a run began, and its clients began to leave, as ProcessClock counts.
struct RunTimes {
  uint64_t youngest;         // when the last of the processes that came began
  uint64_t first_departure;  // 0: not known
};
static_assert(sizeof(RunTimes) == 16);

// A line of the server's ledger.
struct LedgerRecord {
  enum class Kind : uint32_t {
    accepted = 1,     // a verb of a client
    failed = 2,       // something of an iteration has failed: it will not be published
    left = 3,         // an iteration has been published or removed: nothing of it need be remembered
    placed = 4,       // a chunk of a filtered block of a client has its place in the iteration's file
    gone = 5,         // a client has left, while others go on in the same files
    journaled = 6,    // the list of dropped iterations has grown
    unpublished = 7,  // an iteration has left without a file: one of that name is of an earlier run
    absent = 8        // clients that have yet to come are not waited for any more, nor let in
  };
  Kind kind = Kind::accepted;
  int32_t client = 0;  // accepted, placed: who; else the group of files, see FileGroup
  int64_t iteration = 0;
  union {
    Descriptor descriptor = {};
    struct {
      int32_t code;
      int32_t system_errno;
      char message[104];  // UTF-8, ended by NUL
    } failure;
    uint64_t journal_end;  // bytes of the list
    RunTimes run;          // of absent
    // The chunk as the format was told of it, so that another server can tell it the same.
    struct {
      uint32_t variable;
      uint32_t skipped;  // filters
      uint32_t effort;
      uint32_t reserved;
      uint64_t index;
      uint64_t bytes;
      double largest_error;
      double largest_relative_error;
      uint64_t overflowed;
    } chunk;
  };
};
static_assert(sizeof(LedgerRecord) == 128);  // divides a page: a record is written whole or not at all
static_assert(std::is_trivially_copyable_v<LedgerRecord>);

}  // namespace tailrace::impl
