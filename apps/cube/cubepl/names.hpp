// Names of CubePL: its functions, and the variables that it predefines.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tailrace::cube {

enum class Function : uint8_t {
  abs,
  acos,
  acot,
  asin,
  atan,
  ceil,
  cos,
  cot,
  exp,
  floor,
  ln,
  neg,
  pos,
  random,
  sgn,
  sin,
  sqrt,
  tan,  // of one number
  min,
  max,  // of two numbers
  lowercase,
  uppercase,
  env  // of a text
};

struct FunctionName {
  Function function;
  unsigned operands;
};

std::optional<FunctionName> function_of(std::string_view name);

// A variable that CubePL predefines: ${cube::region::name}[i] is a property of one of the profile's objects, and
// ${calculation::region::name} one of the object for which a value is calculated.
struct Predefined {
  enum class Object : uint8_t { profile, metric, call_path, region, node, group, location };
  enum class Property : uint8_t {
    // Counts of the profile.
    mirrors,
    metrics,
    root_metrics,
    regions,
    call_paths,
    root_call_paths,
    locations,
    groups,
    nodes,
    root_nodes,
    void_locations,
    void_groups,
    file,
    // Properties of objects.
    id,
    name,
    other_name,  // the metric's display name; the region's mangled name
    url,
    description,
    data_type,
    unit,
    expression,
    init_expression,
    children,  // how many
    parent,    // its id; -1: none
    callee,    // id of the region that a call path calls
    module,
    line,
    begin_line,
    end_line,
    paradigm,
    role,
    kind,
    rank,
    is_void
  };

  Object object = Object::profile;
  Property property = Property::call_paths;
  bool calculation = false;
};

// Returns nothing for other names, which are variables of the program.
std::optional<Predefined> predefined_of(std::string_view name);

}  // namespace tailrace::cube
