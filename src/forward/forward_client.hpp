// ForwardClient: the state of one client of a forwarder: its open files, its locks, its messages that wait for
// memory, and what it holds.
//
// Plain data; Forwarder decides.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/wire/forward_wire.hpp"
#include "storage/file_system.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

// A message with transfers that has arrived, and has not been given memory yet.
struct WaitingTransfers {
  uint64_t number = 0;
  std::vector<TransferRecord> records;
  uint64_t arrival = 0;
  uint64_t bulk = 0;
};

// A call that has arrived, and waits for the calls of an earlier link of its process.
struct WaitingCall {
  uint64_t number = 0;
  ForwardCallMessage call;
};

struct ForwardClient {
  // A file that the client has open.
  struct Use {
    uint32_t times = 0;    // opened and not closed
    uint32_t closing = 0;  // closed while something was pending: the file is closed after that
    uint32_t pending = 0;  // transfers and calls in the engine
  };

  PeerId peer = 0;
  ForwardTerms::Role role = ForwardTerms::Role::client;
  uint64_t process = 0;  // see ForwardTerms
  std::string name;
  std::string address;
  std::string forwarders;         // all that it uses, in one text; "": it has not told
  std::string output;             // where it writes; all clients of it have the same forwarders
  bool gone = false;              // its link has ended; what it had under way still ends
  bool leaves = false;            // it has said goodbye
  bool is_late = false;           // it came when the forwarder was leaving already
  bool fenced = false;            // nothing more of it may begin
  bool confirmed_early = false;   // writes were confirmed as received
  std::map<uint32_t, Use> files;  // by FileId
  std::map<uint32_t, std::unique_ptr<NameLock>> locks;
  uint32_t next_lock = 1;
  std::deque<WaitingTransfers> waiting;
  std::deque<WaitingCall> waiting_calls;
  std::vector<uint64_t> earlier;  // links of its process that had calls under way when it came
  uint32_t calls = 0;             // under way
  uint32_t under_way = 0;         // messages that have memory
  uint64_t held = 0;              // bytes of memory
  // Counts of what has ended.
  uint64_t transfers = 0;
  uint64_t written = 0;  // bytes
  uint64_t read = 0;     // bytes
  uint64_t failed = 0;

  // Returns true if its end would cost it nothing.
  bool has_nothing() const {
    return files.empty() && locks.empty() && waiting.empty() && under_way == 0 && calls == 0 && waiting_calls.empty();
  }
  bool has_open(uint32_t file) const {
    const auto found = files.find(file);
    return found != files.end() && found->second.times > 0;
  }
};

}  // namespace tailrace::impl
