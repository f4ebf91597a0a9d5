// config_difference: compares the configurations of the clients of one server: what they must have in common, and
// what the server takes from the first of them.
//
// One table has all these settings (shared_settings), with their values as people read them. The compiler refuses it
// if it lacks a member of NodeConfig.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/config/config.hpp"

namespace tailrace::impl {

// A setting that a server has once for all of its clients.
struct SharedSetting {
  enum class Kind {
    equal,        // all clients must have the same value
    equal_paths,  // they must name the same files of this node, in whatever way
    first         // the value of the first client counts
  };
  std::string key;
  std::string value;  // as in the configuration; a list in one text
  Kind kind = Kind::equal;
  std::vector<std::string> paths = {};  // for Kind::equal_paths
};

// Returns all of them, in the order of the documentation. The keys are the same for all configurations.
std::vector<SharedSetting> shared_settings(const Config& config);

// A key in which two configurations differ, and both values.
struct ConfigDifference {
  std::string key;
  std::string found;
  std::string expected;
};

// Returns the first setting in which a client may not differ from the first client, `expected`, and does.
std::optional<ConfigDifference> config_difference(const Config& found, const Config& expected);
// Returns the settings in which it may differ, and does: in the server, those of `expected` count.
std::vector<ConfigDifference> ignored_differences(const Config& found, const Config& expected);

}  // namespace tailrace::impl
