// The messages between a node and a forwarder, which carries out the node's transfers and calls (storage/remote,
// forward). Bytes shared between nodes: fixed width, little-endian, versioned by the handshake.
//
// The bulk data of a message (transport/transport.hpp) hold the bytes of writes, or of reads on the way back. Both
// ends check all of a message before they use any of it: decode functions return none for bytes that no encode
// function made.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tailrace::impl {

static_assert(std::endian::native == std::endian::little, "forwarding between machines of other byte order");

// The version that this build speaks, for the handshake.
inline constexpr uint16_t kForwardVersion = 6;

inline constexpr uint32_t kMostRecords = 256;                   // transfers of one message
inline constexpr uint64_t kMostForwarded = uint64_t{16} << 20;  // bytes of one message's bulk data
inline constexpr uint64_t kMostListed = uint64_t{64} << 20;     // bytes of the names in a directory
inline constexpr uint32_t kMostForwardText = 8191;              // bytes of a path or a message
inline constexpr uint32_t kMostServers = 4096;                  // entries of a stripe map

// The facts that each end tells the other in the handshake.
struct ForwardTerms {
  enum class Role : uint32_t { client = 1, forwarder = 2, inspector = 3 };
  Role role = Role::client;
  uint32_t window = 0;   // of a forwarder: messages of one client that may be unanswered
  uint64_t process = 0;  // of a client: the same on all its links, and no other client's; 0: it has one link ever
  uint32_t lease = 0;    // of a forwarder, in microseconds: it acts for a client that it does not hear for so long
  char name[44] = {};    // of the node and process, for logs; UTF-8, filled with NUL
};
static_assert(sizeof(ForwardTerms) == 64);
static_assert(offsetof(ForwardTerms, process) == 8);
static_assert(offsetof(ForwardTerms, lease) == 16);
static_assert(offsetof(ForwardTerms, name) == 20);
static_assert(std::is_trivially_copyable_v<ForwardTerms>);

enum class ForwardKind : uint32_t {
  transfers = 1,  // client → forwarder: `count` TransferRecords; bulk: the bytes of the writes, in order
  call = 2,       // client → forwarder: a CallRecord and two texts
  leave = 3,      // client → forwarder: all is answered, and the client goes
  ends = 4,       // forwarder → client: `count` results; bulk: the bytes of the reads, as long as the results say
  answer = 5,     // forwarder → client: an AnswerRecord, a message, and the servers of a stripe map; bulk: a list
  leaving = 6,    // forwarder → client: it will end when all messages so far are answered
  lost = 7        // forwarder → client: a write that it had only received has failed: a LossRecord
};

// Every message begins with this.
struct ForwardHead {
  ForwardKind kind = ForwardKind::transfers;
  uint32_t count = 0;
  uint64_t number = 0;  // the client's number of the message; ends and answer repeat it
};
static_assert(sizeof(ForwardHead) == 16);
static_assert(offsetof(ForwardHead, number) == 8);
static_assert(std::is_trivially_copyable_v<ForwardHead>);

struct TransferRecord {
  enum class Kind : uint8_t { read = 0, write = 1, sync = 2 };
  // When the forwarder answers: when a write is written, durable, or in its memory.
  enum class Confirm : uint8_t { written = 0, durable = 1, received = 2 };
  uint32_t file = 0;  // as the answer to `open` names it
  Kind kind = Kind::write;
  Confirm confirm = Confirm::written;
  uint16_t reserved = 0;
  uint64_t offset = 0;
  uint64_t length = 0;  // 0 only for sync
};
static_assert(sizeof(TransferRecord) == 24);
static_assert(offsetof(TransferRecord, offset) == 8);
static_assert(offsetof(TransferRecord, length) == 16);
static_assert(std::is_trivially_copyable_v<TransferRecord>);

// In an `open`, a `stat` and a `remove`, the second text is a directory with which the path begins, and below which
// it must lead (FileSystem::check_below); empty: none.
enum class ForwardCall : uint32_t {
  open = 1,            // text: path; mode: an OpenMode; offset: the device. → file, stripe map, identity, empty
  close = 2,           // file
  size = 3,            // file → value
  allocate = 4,        // file, offset, length
  truncate = 5,        // file, length
  rename = 6,          // file; text: the new path; flags: kReplace, kClose
  stat = 7,            // text: path → NameFacts
  list = 8,            // text → bulk: the names, each ended by NUL
  make_directory = 9,  // text
  remove = 10,         // text: path
  check_below = 11,    // text: root; second text: relative path
  lock = 12,           // text: path; second text: holder → file: the lock's number, value: 1 if it is held
  unlock = 13,         // file: the lock's number; flags: kLeaveFile
  is_locked = 14,      // text → value: 1 if it is
  status = 15,         // → bulk: what the forwarder does, as JSON
  settle = 16,         // file: is answered when all transfers of it that came before have ended, from any client
  join = 17            // text: the client's forwarders; second text: its output. The first call of a link
};

struct CallRecord {
  static constexpr uint32_t kReplace = 1;    // rename: replaces an existing file
  static constexpr uint32_t kLeaveFile = 2;  // unlock: leaves the lock's file in place
  static constexpr uint32_t kClose = 8;      // rename: closes the file, also if it cannot be renamed
  static constexpr uint32_t kRepeated = 4;  // the call may have been carried out before, by a forwarder that was lost

  ForwardCall call = ForwardCall::open;
  uint32_t file = 0;
  uint32_t mode = 0;
  uint32_t flags = 0;
  uint64_t offset = 0;
  uint64_t length = 0;
  uint32_t text = 0;  // bytes of the texts that follow, without NUL
  uint32_t second = 0;
};
static_assert(sizeof(CallRecord) == 40);
static_assert(offsetof(CallRecord, offset) == 16);
static_assert(offsetof(CallRecord, text) == 32);
static_assert(std::is_trivially_copyable_v<CallRecord>);

struct AnswerRecord {
  int32_t code = 0;  // a tailrace_status
  int32_t system_errno = 0;
  uint32_t file = 0;
  uint32_t text = 0;     // bytes of the message of a failure
  uint32_t servers = 0;  // entries of the stripe map, which follow the message: u32 each
  uint32_t kind = 0;     // of NameFacts
  uint64_t value = 0;    // size, a truth value, or bytes of a stripe
  uint64_t volume = 0;
  uint64_t number = 0;
  uint32_t own = 0;
  uint32_t empty = 0;  // 1: the file that was opened had no bytes
};
static_assert(sizeof(AnswerRecord) == 56);
static_assert(offsetof(AnswerRecord, value) == 24);
static_assert(offsetof(AnswerRecord, own) == 48);
static_assert(std::is_trivially_copyable_v<AnswerRecord>);

// A write that was confirmed as received, and has failed since.
struct LossRecord {
  uint32_t file = 0;
  int32_t system_errno = 0;
  uint64_t offset = 0;
  uint64_t length = 0;
};
static_assert(sizeof(LossRecord) == 24);
static_assert(std::is_trivially_copyable_v<LossRecord>);

struct ForwardCallMessage {
  CallRecord record;
  std::string text = {};
  std::string second = {};
};

struct ForwardAnswer {
  AnswerRecord record;
  std::string text = {};
  std::vector<uint32_t> servers = {};
};

// `name` is cut off if it is too long.
std::array<std::byte, sizeof(ForwardTerms)> encode_terms(ForwardTerms terms, std::string_view name);
inline std::array<std::byte, sizeof(ForwardTerms)> encode_terms(ForwardTerms::Role role, std::string_view name) {
  return encode_terms({.role = role}, name);
}
ForwardTerms decode_terms(const std::array<std::byte, sizeof(ForwardTerms)>& bytes);

std::vector<std::byte> encode_transfers(uint64_t number, std::span<const TransferRecord> records);
std::vector<std::byte> encode_call(uint64_t number, const ForwardCallMessage& call);
std::vector<std::byte> encode_ends(uint64_t number, std::span<const int64_t> results);
std::vector<std::byte> encode_answer(uint64_t number, const ForwardAnswer& answer);
std::vector<std::byte> encode_loss(const LossRecord& loss);
std::vector<std::byte> encode_plain(ForwardKind kind);  // leave, leaving

std::optional<ForwardHead> decode_head(std::span<const std::byte> body);
// Return none also if the message has records that must not be sent: see the fields above. `bulk` is the size of the
// message's bulk data, which must be that of its writes.
std::optional<std::vector<TransferRecord>> decode_transfers(std::span<const std::byte> body, uint64_t bulk);
std::optional<ForwardCallMessage> decode_forward_call(std::span<const std::byte> body);
std::optional<std::vector<int64_t>> decode_ends(std::span<const std::byte> body);
std::optional<ForwardAnswer> decode_forward_answer(std::span<const std::byte> body);
std::optional<LossRecord> decode_loss(std::span<const std::byte> body);

// Return the bytes that the writes carry, and that the reads ask for.
uint64_t bytes_of_writes(std::span<const TransferRecord> records);
uint64_t bytes_of_reads(std::span<const TransferRecord> records);

}  // namespace tailrace::impl
