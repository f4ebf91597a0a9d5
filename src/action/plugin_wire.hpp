// The messages between a server and its plugin host: fixed-size messages over a socket, and their contents in files.
//
// A message has 32 bytes. Data of variable size (the blocks of a call, the results) are in a memory file whose
// descriptor travels with the message, so that no message is too long for the socket. Host and server come from one
// build, but the host runs foreign code: the server checks all data that come from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/config/action.hpp"

namespace tailrace::impl {

inline constexpr uint32_t kPluginWireVersion = 2;
inline constexpr uint64_t kMostAnswerBytes = uint64_t{16} << 20;
inline constexpr size_t kWireRank = 8;  // TAILRACE_MAX_RANK

enum class HostVerb : uint32_t {
  segment = 1,  // maps segment `number`, of `bytes` bytes; with its descriptor; not answered
  forget = 2,   // removes segment `number`; not answered
  load = 3,     // loads a function and names it `number`; with a PluginFunction; answered
  call = 4      // calls function `number`; with a PluginCall; answered
};

// A message from the server to the host.
struct HostRequest {
  uint32_t version = kPluginWireVersion;
  HostVerb verb = HostVerb::call;
  uint64_t number = 0;
  uint64_t bytes = 0;  // of the segment, or of the memory file that comes with the message
  uint64_t reserved = 0;
};

static_assert(sizeof(HostRequest) == 32);
static_assert(offsetof(HostRequest, verb) == 4);
static_assert(offsetof(HostRequest, number) == 8);
static_assert(offsetof(HostRequest, bytes) == 16);
static_assert(std::is_trivially_copyable_v<HostRequest>);

// A message from the host to the server: the last load or call has ended. With a PluginAnswer.
struct HostReply {
  uint32_t version = kPluginWireVersion;
  uint32_t failed = 0;  // 1: the answer contains the error
  uint64_t number = 0;  // of the request
  uint64_t bytes = 0;   // of the memory file that comes with the message
  uint64_t reserved = 0;
};

static_assert(sizeof(HostReply) == 32);
static_assert(offsetof(HostReply, failed) == 4);
static_assert(offsetof(HostReply, number) == 8);
static_assert(offsetof(HostReply, bytes) == 16);
static_assert(std::is_trivially_copyable_v<HostReply>);

// A block in a call: the place of its bytes, and their meaning.
struct BlockRecord {
  uint64_t offset = 0;  // in the segment
  uint64_t length = 0;  // bytes
  int64_t iteration = 0;
  uint32_t segment = 0;
  uint32_t variable = 0;  // index into PluginCall::variables
  int32_t source = 0;
  int32_t type = 0;  // a tailrace_type
  uint32_t rank = 0;
  uint32_t reserved = 0;
  uint64_t shape[kWireRank] = {};  // unused entries are 0, as below
  uint64_t global_shape[kWireRank] = {};
  uint64_t place[kWireRank] = {};  // of the block in the whole array
};

static_assert(sizeof(BlockRecord) == 240);
static_assert(offsetof(BlockRecord, segment) == 24);
static_assert(offsetof(BlockRecord, rank) == 40);
static_assert(offsetof(BlockRecord, shape) == 48);
static_assert(offsetof(BlockRecord, place) == 176);
static_assert(std::is_trivially_copyable_v<BlockRecord>);

// ---- contents of the memory files ----

struct PluginFunction {
  Action::Run run = Action::Run::statistics;
  std::string file;
  std::string function;
  std::string python_environment;
  std::string program_python;
};

struct PluginCall {
  struct Named {
    std::string name;
    std::string unit;
  };
  std::string event;
  int64_t iteration = 0;
  std::vector<int32_t> clients;
  std::vector<Named> variables;
  std::vector<BlockRecord> blocks;
};

// One result of an action.
struct Finding {
  std::string key;
  std::variant<double, std::string, std::vector<double>> value;
};

struct PluginAnswer {
  std::string error;  // empty: no error
  std::vector<std::string> messages;
  std::vector<Finding> findings;
};

std::vector<std::byte> encode(const PluginFunction& function);
std::vector<std::byte> encode(const PluginCall& call);
std::vector<std::byte> encode(const PluginAnswer& answer);

// Return none if encode() did not make the bytes.
std::optional<PluginFunction> decode_function(std::span<const std::byte> bytes);
std::optional<PluginCall> decode_call(std::span<const std::byte> bytes);
std::optional<PluginAnswer> decode_answer(std::span<const std::byte> bytes);

}  // namespace tailrace::impl
