// YamlNode: a YAML document as a plain tree in which every value knows its line and column.
//
// The only place that knows yaml-cpp, and where its exceptions end. Stricter than YAML, since a configuration is
// written by hand: one document, keys are plain names and stand once, no tags. Size and depth have limits, also
// after aliases are put in. Knows nothing of what the keys mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/yaml_report.hpp"

namespace tailrace::impl {

constexpr size_t yaml_most_bytes = size_t{16} << 20;
constexpr size_t yaml_most_nodes = 1'000'000;
constexpr size_t yaml_most_depth = 32;

struct YamlNode {
  enum class Kind { nothing, scalar, list, map };

  Kind kind = Kind::nothing;
  YamlPlace place;
  std::string text;                // of a scalar
  bool in_quotes = false;          // of a scalar: so it is a text, even if it looks like a number
  bool has_key = false;            // is an entry of a map
  std::string key;                 // of an entry of a map
  YamlPlace key_place;             // of an entry of a map
  std::vector<YamlNode> children;  // items of a list, entries of a map in the order of the file
};

// Parses `text`. Nothing, after reporting why, if it is not YAML as said above. An empty text is Kind::nothing.
std::optional<YamlNode> parse_yaml(const std::string& text, YamlReport& report);

}  // namespace tailrace::impl
