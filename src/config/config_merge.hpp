// Reads `merge:` of the configuration.
#pragma once

#include "config/yaml/yaml_reader.hpp"
#include "model/config/settings.hpp"

namespace tailrace::impl {

void read_merge(const YamlValue& value, MergeSettings& merge);

}  // namespace tailrace::impl
