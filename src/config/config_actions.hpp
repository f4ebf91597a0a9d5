// Reads the parts of the configuration that bind actions to events, and the Python environment for them.
//
// Used only by config_yaml. Opens no file; a relative name starts at the folder of the configuration file.
#pragma once

#include <string>

#include "config/yaml/yaml_reader.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// Requires that config.place, config.memory and config.variables have been read.
void read_actions(const YamlValue& value, Config& config);

void read_python(const YamlValue& value, Config& config);

// Returns the actions of a configuration without the key `actions`: they store every iteration when it ends.
std::vector<Action> default_actions();

}  // namespace tailrace::impl
