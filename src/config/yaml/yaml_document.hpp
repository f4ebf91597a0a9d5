// YamlNode: a YAML document as a plain tree in which every value has its line and column.
//
// Only this file uses yaml-cpp, and catches its exceptions. It is stricter than YAML, since people write
// configurations by hand: one document, plain unique keys, no tags. Size and depth are limited, also after aliases
// are expanded. It gives keys no meaning.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/yaml/yaml_report.hpp"

namespace tailrace::impl {

constexpr size_t yaml_most_bytes = size_t{16} << 20;
constexpr size_t yaml_most_nodes = 1'000'000;
constexpr size_t yaml_most_depth = 32;

struct YamlNode {
  enum class Kind { nothing, scalar, list, map };

  Kind kind = Kind::nothing;
  YamlPlace place;
  std::string text;                // scalars only
  bool in_quotes = false;          // scalars only: the value is a text, even if it looks like a number
  bool has_key = false;            // the node is an entry of a map
  std::string key;                 // map entries only
  YamlPlace key_place;             // map entries only
  std::vector<YamlNode> children;  // items of a list, or entries of a map in the file's order
};

// Parses `text`. Returns none, after reporting the reason, if it is not YAML of this kind. An empty text gives
// Kind::nothing. Tags, keys that stand twice and values that are not UTF-8 are reported, and the tree is made all the
// same: of two keys it has the first.
std::optional<YamlNode> parse_yaml(const std::string& text, YamlReport& report);

}  // namespace tailrace::impl
