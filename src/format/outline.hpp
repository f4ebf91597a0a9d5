// Outline: what an HDF5 file of any writer says about itself: groups, attributes, types and shapes, but no array's
// values. Plain data, for those who show files to people.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tailrace::impl {

// An attribute's value. Elements of types that are no numbers and no texts are std::monostate.
struct OutlineValue {
  using Element = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string>;
  std::vector<Element> elements{};
  std::vector<uint64_t> shape{};  // empty: one element, a scalar

  bool is_scalar() const { return shape.empty() && elements.size() == 1; }
};

// A group or a dataset.
struct OutlineObject {
  bool is_dataset = false;
  std::string type{};  // of a dataset, as NumPy names it: "float64"
  std::vector<uint64_t> shape{};
  uint64_t bytes = 0;  // of its elements, as they are in memory
  std::map<std::string, OutlineValue> attributes{};
  std::vector<std::pair<std::string, OutlineObject>> children{};  // of a group, by name

  const OutlineObject* child(const std::string& name) const {
    for (const auto& [own, object] : children) {
      if (own == name) return &object;
    }
    return nullptr;
  }
  const OutlineValue* attribute(const std::string& name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  }
};

// The parts of a file that are read, beside the attributes of its root.
struct OutlineWanted {
  std::vector<std::string> groups{};  // as "data/7"; missing ones are left out
  bool below_groups = true;           // also all objects below them
  bool iterations = false;            // the names in "data"
  bool datasets = false;              // all datasets, by their paths
};

struct Outline {
  OutlineObject root{};  // with its attributes, and no children
  bool has_data = false;
  std::vector<std::string> iterations{};
  std::map<std::string, OutlineObject> groups{};
  std::vector<std::pair<std::string, OutlineObject>> datasets{};
};

}  // namespace tailrace::impl
