// The plain model that a run of sessions is compared with: what each iteration's file must hold, and what is known of
// its fate. Plain data; ClientProgram writes it while it runs, check_files reads it afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testing/simulation/contents.hpp"

namespace tailrace::impl::simulation {

// What a file holds.
struct FileModel {
  std::map<uint32_t, Content> blocks;  // by variable
  std::map<uint32_t, uint64_t> sizes;  // of these, in bytes
  std::vector<std::string> events;

  bool empty() const { return blocks.empty() && events.empty(); }
};

struct IterationModel {
  // In the present run of its client.
  FileModel now;                                                         // what was accepted
  std::map<uint32_t, std::pair<Content, const std::byte*>> uncommitted;  // allocated and filled
  bool ending = false;                                                   // end_iteration has been called …
  bool ended = false;                                                    // … and has returned
  bool dropped = false;                                                  // by `when_full: drop`
  bool failed = false;             // a failure of it, other than of a read, has been told
  bool acknowledged = false;       // after a flush, with no failure told: its file must outlive the client
  bool durable = false;            // … and the machine
  bool block_was_missing = false;  // a read did not find a block that had been accepted
  // From earlier runs.
  std::optional<FileModel> before;    // its published file
  std::optional<FileModel> leftover;  // what recovery may yet publish, if nobody recovered
  bool had_part = false;              // an unfinished file was there when this run began
  bool unknown = false;               // a power cut may have spoilt it

  bool touched() const { return !now.empty() || dropped; }
  bool ended_with_content() const { return (ending || ended) && !dropped && !now.empty(); }
};

// Of one client.
struct ClientModel {
  std::map<int64_t, IterationModel> iterations;
};

}  // namespace tailrace::impl::simulation
