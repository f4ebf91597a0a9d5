// `merge:` of the configuration, and what of it concerns the engine.
#pragma once

#include <optional>
#include <string>

#include "engine/engine.hpp"
#include "model/config.hpp"
#include "runtime/yaml_reader.hpp"

namespace tailrace::impl {

void read_merge(const YamlValue& value, Config& config);

// A key in which two configurations differ, and what they say.
struct MergeDifference {
  std::string key;
  std::string found;
  std::string expected;
};
std::optional<MergeDifference> merge_difference(const Config& found, const Config& expected);

// `timed`: whoever runs the engine calls it when it is due.
EngineOptions engine_options(const Config& config, bool timed);

}  // namespace tailrace::impl
