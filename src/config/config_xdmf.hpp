// Reads what the configuration says of XDMF files: which iterations have one, and their meshes.
#pragma once

#include <string_view>

#include "config/yaml/yaml_reader.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// Reads format.xdmf. Requires that config.format.kind and config.storage have been read.
void read_xdmf(const YamlValue& format, Config& config);

// Reads format.meshes. Requires that config.variables has been read.
void read_meshes(const YamlValue& format, Config& config);

// Reads how XDMF files show a variable.
XdmfCenter read_xdmf_center(const YamlValue& value, const Config& config);

}  // namespace tailrace::impl
