// Reads `merge:` of the configuration, and compares it between configurations.
#pragma once

#include <optional>
#include <string>

#include "config/yaml/yaml_reader.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

void read_merge(const YamlValue& value, Config& config);

// A key in which two configurations differ, and both values.
struct MergeDifference {
  std::string key;
  std::string found;
  std::string expected;
};
std::optional<MergeDifference> merge_difference(const Config& found, const Config& expected);

}  // namespace tailrace::impl
