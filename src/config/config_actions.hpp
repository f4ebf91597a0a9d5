// The part of the configuration that says what runs on which event: actions, and the Python that they run in.
//
// Used by config_yaml alone. Looks for no file; a relative name is one beside the configuration file.
#pragma once

#include <string>

#include "config/yaml_reader.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// Requires that config.place, config.memory and config.variables are read.
void read_actions(const YamlValue& value, Config& config);

void read_python(const YamlValue& value, Config& config);

// Returns the actions of a configuration without the key `actions`: every iteration is stored when it ends.
std::vector<Action> default_actions();

}  // namespace tailrace::impl
