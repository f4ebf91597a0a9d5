// Action: a function that the configuration binds to an event. Plain data, a part of Config.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::impl {

// The event at the end of every iteration; all other events have names that clients signal.
inline constexpr std::string_view kEndIteration = "end_iteration";

inline constexpr std::chrono::seconds kDefaultActionLimit{10};

struct Action {
  enum class Run { store, statistics, drop, library, python };
  // client: once for each client that raises the event, with its blocks. node: once, when all clients of the node
  // have raised it, with the blocks of all.
  enum class Scope { client, node };

  std::string event;
  Run run = Run::store;
  std::string file;      // library, python: an absolute path
  std::string function;  // library, python
  Scope scope = Scope::client;
  std::chrono::nanoseconds limit = kDefaultActionLimit;  // of one call
  std::vector<uint32_t> variables;                       // variables that it gets, ascending; empty: all
  std::string text;                                      // as written in the configuration: "python:track.py:locate"

  // Clients may have the same text in files of different folders, so `file` is left out.
  bool operator==(const Action& other) const {
    return event == other.event && text == other.text && scope == other.scope && limit == other.limit &&
           variables == other.variables;
  }
};

// Returns true if the action calls the plugin host. The server itself does store and drop.
inline bool is_call(const Action& action) {
  return action.run != Action::Run::store && action.run != Action::Run::drop;
}

}  // namespace tailrace::impl
