// The part of the configuration that describes the data: parameters, layouts, variables.
//
// Used by config_yaml alone. Each reader reports what is wrong and leaves the rest of its output as it is.
#pragma once

#include <map>
#include <string>

#include "config/yaml_reader.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

using Parameters = std::map<std::string, int64_t, std::less<>>;

// A name for parameters, layouts and variables: also a link name in HDF5, and an attribute in Python.
bool is_identifier(std::string_view text);
constexpr std::string_view identifier_rule = "a name of letters, digits and '_' that does not begin with a digit";

// Adds the entries of `parameters:`, but for those that are in `parameters` already: the program's win.
void read_parameters(const YamlValue& value, Parameters& parameters);

// Requires that config.memory is read: a block must fit into the budget.
void read_layouts(const YamlValue& value, const Parameters& parameters, Config& config);

// Requires that config.layouts is read.
void read_variables(const YamlValue& value, Config& config);

// A unit, of which `accept` says whether it has the right dimension.
Unit read_unit(const YamlValue& value, bool (*accept)(const Unit&), std::string_view expected);

}  // namespace tailrace::impl
