// Declarations: what a program writes: its variables with their layouts and parameters, and what describes them.
//
// The part of Config that clients, servers and formats use most. Plain data, constant after it is made.
#pragma once

#include <string_view>
#include <vector>

#include "model/attribute.hpp"
#include "model/variable.hpp"

namespace tailrace::impl {

struct TimeSettings {
  double dt = 1.0;  // time between iterations k and k+1, in `unit`
  Unit unit;        // its dimension is time
};

struct Declarations {
  TimeSettings time;
  std::vector<Attribute> attributes;            // of each file
  std::vector<Attribute> iteration_attributes;  // of each iteration
  std::vector<Parameter> parameters;            // sorted by name
  std::vector<Layout> layouts;                  // with the parameters' values at open
  std::vector<Variable> variables;
  std::vector<ConstantRecord> constants;  // of particles

  const Layout& layout_of(const Variable& variable) const { return layouts[variable.layout]; }
  bool has_particles() const;
  // Return the index of the variable or parameter, or -1.
  int find_variable(std::string_view variable) const;
  int find_parameter(std::string_view parameter) const;
};

}  // namespace tailrace::impl
