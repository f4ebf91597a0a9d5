// Reads the parts of the configuration that describe the data: parameters, layouts, variables.
//
// Used only by config_yaml. Each reader reports errors and leaves the affected output unchanged.
#pragma once

#include <map>
#include <string>

#include "config/yaml_reader.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

using Parameters = std::map<std::string, int64_t, std::less<>>;

// Returns true for a valid name of a parameter, layout or variable: it is also a link name in HDF5, and an attribute
// in Python.
bool is_identifier(std::string_view text);
constexpr std::string_view identifier_rule = "a name of letters, digits and '_' that does not begin with a digit";

// Adds the entries of `parameters:`. Entries already in `parameters` stay, because the program's values take
// precedence.
void read_parameters(const YamlValue& value, Parameters& parameters);

// Requires that config.memory has been read: a block must fit into the budget.
void read_layouts(const YamlValue& value, const Parameters& parameters, Config& config);

// Requires that config.layouts has been read.
void read_variables(const YamlValue& value, Config& config);

// Reads a unit. `accept` returns true if its dimension is right.
Unit read_unit(const YamlValue& value, bool (*accept)(const Unit&), std::string_view expected);

}  // namespace tailrace::impl
