// Config: the contents of a configuration file, checked, with its parameters substituted.
//
// Made by config/config_yaml. Constant after it is made. Most functions take a part of it: Declarations, or one of
// settings.hpp.
#pragma once

#include <string>
#include <vector>

#include "model/config/action.hpp"
#include "model/config/settings.hpp"
#include "model/declarations.hpp"

namespace tailrace::impl {

// The part that all clients of a node's server must have in common.
struct NodeConfig {
  std::string name;
  NodePlace place;
  NodeStorage storage;
  MergeSettings merge;
  FormatSettings format;
  ScheduleSettings schedule;
  ForwardSettings forward;
  std::vector<Action> actions;

  bool operator==(const NodeConfig&) const = default;
};

struct Config : Declarations {
  std::string source;              // file name, for messages
  std::string name;                // file names begin with it
  bool drains_at_signals = false;  // before a signal ends the process
  PlaceSettings place;
  MemorySettings memory;
  StorageSettings storage;
  MergeSettings merge;
  FormatSettings format;
  ScheduleSettings schedule;
  ForwardSettings forward;
  MeasurementSettings measurements;
  LogSettings log;
  std::vector<Action> actions;  // in the order of the file; {end_iteration, store} unless given
  // Folders of environments for Python actions. The first must fit. If it is empty, the second is used if it fits,
  // else VIRTUAL_ENV.
  std::string python_environment;  // from the configuration
  std::string program_python;      // the program's own, if it is in Python

  NodeConfig of_node() const { return {name, place, storage, merge, format, schedule, forward, actions}; }
  // Returns true if several nodes write each file together.
  bool nodes_share_files() const { return storage.file_per == FilePer::job && place.nodes > 1; }
  // Returns true if small writes may gather while the storage is idle: a caller that waits for its writes must then
  // mark them immediate. They do not gather for `delay` if the program does not wait when memory is full: it would
  // find less of it.
  bool holds_writes() const {
    const bool delayed = place.kind == PlaceKind::core && memory.when_full == WhenFull::block && merge.delay > 0;
    return merge.enabled && (merge.by_count || delayed);
  }
};

// Returns the common beginning of a client's file names: "cm1_c3" for its own files, "cm1_n0" for a node's, "cm1" for
// a job's.
std::string series_of(const Config& config, int client);
// Returns the rest of the name of the lock that belongs to the server of shared files: "n3", or "job".
std::string shared_writer_of(const Config& config);

}  // namespace tailrace::impl
