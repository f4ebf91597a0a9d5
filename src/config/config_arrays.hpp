// Reads the parts of the configuration that describe the data: parameters, layouts, variables.
//
// Used only by config_yaml. Each reader reports errors and leaves the affected output unchanged, or harmless.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/names/name_index.hpp"
#include "config/yaml/yaml_reader.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

using Parameters = std::map<std::string, Number, std::less<>>;

// Returns true for a valid name of a parameter, layout or variable: it is also a link name in HDF5, and an attribute
// in Python.
bool is_identifier(std::string_view text);
constexpr std::string_view identifier_rule = "a name of letters, digits and '_' that does not begin with a digit";

// Adds the entries of `parameters:`. Entries already in `parameters` stay, because the program's values take
// precedence.
void read_parameters(const YamlValue& value, Parameters& parameters);

// Returns true if the parameter's value is wrong, so that a value that names it can be read no further; or if the
// parameters are missing because of a mistyped key.
bool doubts_parameter(const YamlValue& value, const std::string& name);

// Requires that config.memory has been read: a block must fit into the budget.
void read_layouts(const YamlValue& value, const Parameters& parameters, Config& config);

// Returns the index of the layout that the value names; 0 after a report. `layouts`: the index of config.layouts.
uint32_t find_layout(const YamlValue& value, const NameIndex& layouts, const Config& config);

// Returns true if what the layout says can be compared with `value`, which belongs to a variable of this layout:
// `value` and the layout are right.
bool trusts_layout(const YamlValue& value, const Layout& layout);

// Returns the entries of a map that must have entries, each with a valid name.
std::vector<YamlValue> read_named(const YamlValue& value, std::string_view expected, size_t most);

// Reads a number, or the name of a parameter, whose index goes to `source` (else kNoParameter).
double read_number(const YamlValue& value, const Parameters& parameters, std::string_view expected, int32_t& source);

// Reads a unit. `accept` returns true if its dimension is right.
Unit read_unit(const YamlValue& value, bool (*accept)(const Unit&), std::string_view expected);

}  // namespace tailrace::impl
