// The plain model that a run of sessions is compared with: what each iteration's file must hold, and what is known of
// its fate. Plain data; ClientProgram writes it while it runs, check_files reads it afterwards.
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

  bool empty() const { return blocks.empty() && events.empty(); }
};

// Signals name who raised them, since clients of a node may have a file in common.
inline std::string event_of(int client, uint64_t number) { return fmt::format("event {} of {}", number, client); }
inline bool is_event_of(int client, const std::string& event) {
  return event.ends_with(fmt::format(" of {}", client));
}

struct IterationModel {
  // In the present run of its client.
  FileModel now;                                                         // what was accepted
  std::optional<FileModel> next;                                         // … and if the verb under way was, too
  std::map<uint32_t, std::pair<Content, const std::byte*>> uncommitted;  // allocated and filled
  bool ending = false;                                                   // end_iteration has been called …
  bool ended = false;                                                    // … and has returned
  bool dropped = false;                                                  // by `when_full: drop`
  bool failed = false;             // a failure of it, other than of a read, has been told
  bool acknowledged = false;       // after a flush, with no failure told: its file must outlive the client
  bool durable = false;            // … and the machine
  bool block_was_missing = false;  // a read did not find a block that had been accepted
  // From earlier runs.
  std::optional<FileModel> before;         // its published file
  std::optional<FileModel> leftover;       // what recovery may yet publish, if nobody recovered
  std::optional<FileModel> leftover_next;  // … and if the verb that its client died in was accepted
  bool had_part = false;                   // an unfinished file was there when this run began
  bool unknown = false;                    // a power cut may have spoilt it

  bool touched() const { return !now.empty() || dropped; }
  bool ended_with_content() const { return (ending || ended) && !dropped && !now.empty(); }
};

// The model of one client.
struct ClientModel {
  std::map<int64_t, IterationModel> iterations;
  bool drops = false;  // by its configuration

  const IterationModel& iteration(int64_t number) const {
    static const IterationModel nothing;
    const auto found = iterations.find(number);
    return found == iterations.end() ? nothing : found->second;
  }
};

// Returns true if one of the clients that have files in common has dropped the iteration, or may be just doing so.
inline bool may_be_dropped(const std::vector<ClientModel>& clients, int64_t number) {
  return std::any_of(clients.begin(), clients.end(), [number](const ClientModel& client) {
    const IterationModel& iteration = client.iteration(number);
    const bool in_call = iteration.next.has_value() || (iteration.ending && !iteration.ended);
    return iteration.dropped || (client.drops && in_call);
  });
}

}  // namespace tailrace::impl::simulation
