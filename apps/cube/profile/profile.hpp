// Profile: what the anchor of a Cube 4 profile says: metrics, regions, call paths, the system, attributes.
//
// Numbers of metrics, regions, call paths and locations are places in the anchor, in document order. Ids are those
// that the anchor gives.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cube/profile/call_tree.hpp"

namespace tailrace::cube {

struct Metric {
  enum class Kind : uint8_t { exclusive, inclusive, prederived_exclusive, prederived_inclusive, postderived };
  enum class Visibility : uint8_t { normal, ghost, hidden };  // hidden: VOID

  unsigned id = 0;
  int parent = -1;  // its number
  Kind kind = Kind::exclusive;
  Visibility visibility = Visibility::normal;
  std::string unique_name;
  std::string display_name;
  std::string data_type;
  std::string unit;
  std::string url;
  std::string description;
  // CubePL, of derived metrics; "": none. `line`: where the text begins in its file; 0: unknown.
  struct Code {
    std::string text;
    size_t line = 0;
  };
  Code expression;
  Code init;
  Code plus;  // aggregation
  Code minus;
  Code aggregate;       // of the system dimension
  bool rowwise = true;  // the attribute of <cubepl>

  bool derived() const { return kind > Kind::inclusive; }
};

struct Region {
  uint32_t id = 0;
  std::string name;
  std::string mangled_name;
  std::string module;  // mod: the file
  std::string paradigm;
  std::string role;
  std::string url;
  std::string description;
  int64_t begin = -1;  // lines
  int64_t end = -1;
};

// A thread, or another location with values, and what contains it.
struct Location {
  uint32_t id = 0;
  int64_t rank = 0;
  std::string name;
  std::string type;
  uint32_t group = 0;  // number of its location group, such as a process
};

struct LocationGroup {
  uint32_t id = 0;
  int64_t rank = 0;
  std::string name;
  std::string type;
  uint32_t node = 0;  // number of its system tree node
};

struct SystemNode {
  uint32_t id = 0;
  int32_t parent = -1;  // its number
  std::string name;
  std::string kind;  // class
};

struct Profile {
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::string> mirrors;
  std::vector<Metric> metrics;  // in preorder
  std::vector<Region> regions;
  CallTree tree;
  std::vector<SystemNode> nodes;
  std::vector<LocationGroup> groups;
  std::vector<Location> locations;  // in the order of their ids, as in rows
  // The anchor as it was read: all that is not named above is kept, such as topologies.
  std::string anchor;

  const Metric* find_metric(const std::string& unique_name) const;  // null: there is none
};

// Reads the text of an anchor. Throws Error with the line, and for mistakes in the XML with the column; `name` is
// that of the file.
Profile read_anchor(std::string text, const std::string& name);

// Reads the metrics of a remapping specification: a <metrics> element, in a document of its own or with others beside
// it (<doc>). They have no ids.
std::vector<Metric> read_metrics(const std::string& text, const std::string& name);

// Returns the anchor of `profile` with these metrics instead of its own. Their parents precede them. A profile
// without the text of an anchor gets a new one.
std::string write_anchor(const Profile& profile, const std::vector<Metric>& metrics);

}  // namespace tailrace::cube
