// The messages by which a client and the server of its node meet (place `core`), and the records from which another
// server continues after a server's death. Bytes shared between processes: fixed width, versioned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "model/wire/descriptor_wire.hpp"
#include "model/wire/failure_wire.hpp"

namespace tailrace::impl {

inline constexpr uint64_t kCoreMagic = 0x65636172'6c696174;  // "tailrace", little-endian
inline constexpr uint32_t kCoreVersion = 14;
// Bytes of a client's configuration. The file may have 16 MiB (yaml_document), and each byte of it takes two at most
// in the message, so that honest clients stay below.
inline constexpr uint64_t kMostConfiguration = uint64_t{32} << 20;

// client → server, the first message; with one descriptor: a file that contains the configuration.
struct Hello {
  uint64_t magic = kCoreMagic;
  uint32_t version = kCoreVersion;
  int32_t client = 0;
  uint32_t again = 0;  // 1: the client has a segment already, from a server that died
  uint32_t reserved = 0;
  uint64_t configuration = 0;  // bytes
};
static_assert(sizeof(Hello) == 32);
static_assert(std::is_trivially_copyable_v<Hello>);

// The last iteration that earlier runs published.
struct LastIteration {
  int64_t number = -1;                                     // -1: there is none
  double time = std::numeric_limits<double>::quiet_NaN();  // in time.unit; NaN: its file does not say
};
static_assert(sizeof(LastIteration) == 16);

// server → client. If it accepts the client, two descriptors follow: the segment, and the event counter that wakes
// the server.
struct Welcome {
  uint64_t magic = kCoreMagic;
  uint32_t version = kCoreVersion;
  int32_t server = 0;  // the server's process
  // Number of variables of the segment; see ChannelSizes.
  uint32_t variables = 0;
  uint32_t ring = 0;
  uint32_t tickets = 0;
  uint32_t blocks = 0;
  uint64_t pool = 0;           // bytes
  char description[256] = {};  // of the server; UTF-8, ended by NUL
  FailureRecord refusal;       // why the client is refused; its code is TAILRACE_OK if it is accepted
  // In files that perhaps only the server sees. `last_unknown` says why it is not known; its code is TAILRACE_OK if
  // it is.
  LastIteration last;
  FailureRecord last_unknown;
};
static_assert(sizeof(Welcome) == 2360);
static_assert(offsetof(Welcome, pool) == 32);
static_assert(std::is_trivially_copyable_v<Welcome>);

// client → server: all requests of the client have ended, and it leaves. It closes its connection after this.
struct Goodbye {
  uint64_t magic = kCoreMagic;
  uint32_t version = kCoreVersion;
  uint32_t reserved = 0;
};
static_assert(sizeof(Goodbye) == 16);

// Times of a run, as ProcessClock counts: when the last of its processes began, and when its clients began to leave.
struct RunTimes {
  uint64_t youngest;         // when the last of the processes that came began
  uint64_t first_departure;  // 0: not known
};
static_assert(sizeof(RunTimes) == 16);

// One record of the server's ledger.
struct LedgerRecord {
  enum class Kind : uint32_t {
    accepted = 1,     // a verb of a client
    failed = 2,       // a part of an iteration has failed: the iteration will not be published
    left = 3,         // an iteration has been published or removed, and can be forgotten
    placed = 4,       // a chunk of a client's filtered block has a place in the iteration's file
    gone = 5,         // a client has left; others still write the same files
    journaled = 6,    // the journal of dropped iterations has grown
    unpublished = 7,  // an iteration ended without a file: a file of its name is from an earlier run
    absent = 8,       // clients that have not come yet are no longer waited for, nor admitted
    given_up = 9      // the last line: the server went on, but could not record what it did (failure: why)
  };
  static constexpr size_t kKinds = 10;  // beyond the last one
  Kind kind = Kind::accepted;
  int32_t client = 0;  // accepted, placed: the client; else the group of files, see FileGroup
  int64_t iteration = 0;
  union {
    Descriptor descriptor = {};
    struct {
      int32_t code;
      int32_t system_errno;
      char message[104];  // UTF-8, ended by NUL
    } failure;
    uint64_t journal_end;  // length of the journal in bytes
    RunTimes run;          // of absent and gone
    // The chunk as it was passed to the format, so that another server can repeat the call.
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
static_assert(sizeof(LedgerRecord) == 128);  // divides a page, so a record is written whole or not at all
static_assert(std::is_trivially_copyable_v<LedgerRecord>);

}  // namespace tailrace::impl
