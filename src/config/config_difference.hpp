// config_difference: compares what all clients of a node's server must have in common, and names the first key that
// differs.
#pragma once

#include <optional>
#include <string>

#include "model/config/config.hpp"

namespace tailrace::impl {

// A key in which two configurations differ, and both values.
struct ConfigDifference {
  std::string key;
  std::string found;
  std::string expected;
};

// Returns none only if they are equal. `expected` is the configuration of the first client.
std::optional<ConfigDifference> config_difference(const NodeConfig& found, const NodeConfig& expected);

}  // namespace tailrace::impl
