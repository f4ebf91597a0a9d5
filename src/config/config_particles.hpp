// Reads the species of particles: each has records, whose variables are "<species>/<record>[/<component>]".
#pragma once

#include "config/yaml/yaml_reader.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// Requires that config.layouts and the variables of meshes have been read. Adds variables and constants.
void read_particles(const YamlValue& value, Config& config);

}  // namespace tailrace::impl
