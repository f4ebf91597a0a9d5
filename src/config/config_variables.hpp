// Reads the variables of the configuration, and what those of meshes and of particles have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/names/name_index.hpp"
#include "config/yaml/yaml_reader.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// Requires that config.layouts has been read.
void read_variables(const YamlValue& value, Config& config);

// Reads a variable's settings, all but its name and its record. `layout`: where the entry names none; none: it must.
Variable read_settings(const YamlValue& entry, const std::optional<uint32_t>& layout, const NameIndex& layouts,
                       const Config& config);

// Reads a list of variables, each once, of those that have been read; `hint` is that for an empty list.
std::vector<uint32_t> read_variable_names(const YamlValue& value, const Config& config, std::string_view hint);

// Reads the components of a vector: names, each once.
std::vector<std::string> read_components(const YamlValue& value);
// Returns a variable for each component; or the one of a scalar, if there are none.
std::vector<Variable> with_components(const Variable& record, const std::string& name,
                                      const std::vector<std::string>& components);

}  // namespace tailrace::impl
