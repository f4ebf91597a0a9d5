// Node: a program in CubePL as a tree, with its names resolved. docs/formats/cubepl.md describes the language.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cube/cubepl/names.hpp"
#include "cube/cubepl/regex.hpp"

namespace tailrace::cube {

enum class Op : uint8_t {
  // Constants.
  number,
  text,
  // References. The index of an array is their child, if there is one.
  local,       // `slot`
  global,      // `slot`
  predefined,  // `predefined`
  metric,      // `metric`, `reference`
  argument,    // `slot`: 1 or 2, of an aggregation
  // Operators and functions; children: their operands.
  add,
  subtract,
  multiply,
  divide,
  power,
  negate,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  same_text,           // eq
  same_text_any_case,  // seq
  matches,             // `regex`
  logical_and,
  logical_or,
  logical_xor,
  logical_not,
  call,     // `function`
  size_of,  // of the reference that is its child
  is_defined,
  metric_property,  // cube::metric::get: `metric`, `text` is the property
  // Statements and what contains them. A block's value is that of its return.
  block,
  assign_local,  // children: the value, and the index if there is one
  assign_global,
  choose,  // if: children: condition, block, condition, block, …, and the block of `else`
  repeat,  // while: condition, block
  give,    // return: the value
  print,
  set_metric_property,  // `metric`, `text` is the property; child: the value
  nothing
};

enum class Flavour : uint8_t { exclusive, inclusive };

// Which value of a metric a reference means, along the call tree and along the system.
struct Reference {
  enum class Call : uint8_t { as_calculated, exclusive, inclusive };
  enum class System : uint8_t {
    location,
    all_locations,  // metric::fixed::NAME(e): their sum
    whole_program   // metric::fixed::NAME(): that of the inclusive values of the roots
  };
  Call call = Call::as_calculated;
  System system = System::location;
};

struct Node {
  Op op = Op::nothing;
  uint32_t line = 0;  // in the file, from 1 on
  uint32_t column = 0;
  uint32_t depth = 1;  // of the tree below it, with itself
  double number = 0;
  std::string text;
  uint32_t slot = 0;
  Predefined predefined = {};
  Function function = Function::abs;
  int metric = -1;  // its number; -1: there is no such metric, and its value is 0
  Reference reference;
  std::shared_ptr<const Regex> regex;
  std::vector<Node> children;
};

// An expression that was parsed, with everything that its evaluation needs.
struct Program {
  Node root;
  std::vector<std::string> locals;  // names by slot
  std::string where;                // metric and kind of expression, for errors
};

}  // namespace tailrace::cube
