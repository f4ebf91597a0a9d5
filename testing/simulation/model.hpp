// The plain model with which a run of sessions is compared: what each iteration's file must contain, and what is
// known about how it ended. Plain data; ClientProgram writes it during the run, check_files reads it afterwards.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testing/simulation/contents.hpp"

namespace tailrace::impl::simulation {

// The contents of a file.
struct FileModel {
  std::map<uint32_t, Content> blocks;  // by variable
  std::map<uint32_t, uint64_t> sizes;  // of these, in bytes
  std::vector<std::string> events;
  std::map<std::string, uint64_t> attributes;  // of the iteration

  bool empty() const { return blocks.empty() && events.empty() && attributes.empty(); }
};

// Events name the client that raised them, since clients of a node may share a file.
inline std::string event_of(int client, uint64_t number) { return fmt::format("event {} of {}", number, client); }
inline bool is_event_of(int client, const std::string& event) {
  return event.ends_with(fmt::format(" of {}", client));
}

// Attributes name their client, too: clients that share a file must not set another's to another value. The names are
// so long that an attribute is sent in several parts.
inline constexpr uint64_t kAttributes = 3;  // of a client in an iteration
inline std::string attribute_of(int client, uint64_t number) {
  return fmt::format("attribute {} of client {}", number, client);
}

// Returns the client's attributes that the object of a file has.
template <class File>
std::map<std::string, uint64_t> attributes_in(const File& file, const std::string& object, int client) {
  std::map<std::string, uint64_t> found;
  for (uint64_t number = 0; number < kAttributes; ++number) {
    const std::vector<uint64_t> value = file.numbers(object, attribute_of(client, number));
    if (!value.empty()) found[attribute_of(client, number)] = value[0];
  }
  return found;
}

// The time that all clients give when they end an iteration.
inline double time_of(int64_t iteration) { return 3 + static_cast<double>(iteration) / 8; }

struct IterationModel {
  // In the client's present run.
  FileModel now;                  // blocks that were accepted
  std::optional<FileModel> next;  // the same, if the verb under way was accepted, too
  std::map<uint32_t, std::pair<Content, const std::byte*>> uncommitted;  // allocated and filled
  bool absent = false;             // the others may go on without this client's part
  bool ending = false;             // end_iteration has been called …
  bool ended = false;              // … and has returned
  bool dropped = false;            // by `when_full: drop`
  bool failed = false;             // a failure of it, other than of a read, was reported
  bool acknowledged = false;       // a flush has ended without a failure: its file must outlive the client
  bool durable = false;            // the same, and it must outlive the machine
  bool block_was_missing = false;  // a read did not find an accepted block
  // From earlier runs.
  std::optional<FileModel> before;         // its published file
  std::optional<FileModel> leftover;       // what recovery may still publish, without a recovery so far
  std::optional<FileModel> leftover_next;  // the same, if the verb was accepted in which its client died
  bool leftover_absent = false;            // the same, without this client's part
  bool had_part = false;                   // an unfinished file existed when this run began
  bool unknown = false;                    // a power cut may have damaged it

  bool touched() const { return !now.empty() || dropped; }
  bool ended_with_content() const { return (ending || ended) && !dropped && !now.empty(); }
};

// The model of one client.
struct ClientModel {
  std::map<int64_t, IterationModel> iterations;
  bool drops = false;  // the configuration has `when_full: drop`

  const IterationModel& iteration(int64_t number) const {
    static const IterationModel nothing;
    const auto found = iterations.find(number);
    return found == iterations.end() ? nothing : found->second;
  }
};

// Returns true if one of the clients that share files has dropped the iteration, or may be dropping it now.
inline bool may_be_dropped(const std::vector<ClientModel>& clients, int64_t number) {
  return std::any_of(clients.begin(), clients.end(), [number](const ClientModel& client) {
    const IterationModel& iteration = client.iteration(number);
    const bool in_call = iteration.next.has_value() || iteration.absent || (iteration.ending && !iteration.ended);
    return iteration.dropped || (client.drops && in_call);
  });
}

}  // namespace tailrace::impl::simulation
