// YamlValue: one value of the configuration file, read as what it should be.
//
// Between the tree (yaml_document) and the schema (config_yaml, config_arrays). Every getter either returns what the
// file says or reports found and expected with file, line, column and key, and returns a harmless value instead, so
// that a schema reads like a list of its keys. Knows nothing of what the keys mean.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/yaml_document.hpp"

namespace tailrace::impl {

// Borrows the node and the report, which must outlive it.
class YamlValue {
 public:
  YamlValue(const YamlNode& node, std::string path, YamlReport& report)
      : node_(&node), path_(std::move(path)), report_(&report) {}

  const std::string& path() const { return path_; }
  const std::string& key() const { return node_->key; }
  bool is_nothing() const { return node_->kind == YamlNode::Kind::nothing; }
  bool is_scalar() const { return node_->kind == YamlNode::Kind::scalar; }
  bool is_list() const { return node_->kind == YamlNode::Kind::list; }
  bool is_map() const { return node_->kind == YamlNode::Kind::map; }
  // The scalar as it stands in the file; empty if it is none.
  const std::string& raw() const { return node_->text; }

  // ---- scalars

  // A text without control characters, not empty.
  std::string text(std::string_view expected) const;
  // Reads a text that may be empty or have several lines.
  std::string prose() const;
  // A text that fulfils `accept`.
  std::string name(bool (*accept)(std::string_view), std::string_view expected) const;
  int64_t integer(int64_t least, int64_t most = std::numeric_limits<int64_t>::max()) const;
  // The scalar as an integer, without a report if it is none.
  std::optional<int64_t> maybe_integer() const;
  // Finite.
  double number(std::string_view expected) const;
  bool flag() const;
  // "1 GiB", "256MiB", 4096
  static constexpr uint64_t kMostSize = std::numeric_limits<int64_t>::max();
  uint64_t size(uint64_t least, uint64_t most = kMostSize) const;
  // "800 MiB/s", "1.5GB/s": bytes a second. What it may be instead is `words`, which a report names, too.
  uint64_t rate(uint64_t least, std::string_view words) const;
  // Index of the scalar in `words`; 0 after a report.
  size_t choice(const std::vector<std::string_view>& words) const;

  // ---- lists and maps

  // The items; none after a report.
  std::vector<YamlValue> items(std::string_view expected) const;
  // The entries of a map; none after a report.
  std::vector<YamlValue> entries(std::string_view expected) const;
  std::optional<YamlValue> find(std::string_view key) const;
  // Reports if the key is missing.
  std::optional<YamlValue> require(std::string_view key, std::string_view expected) const;
  // Reports a value that is no map, keys of `later`, which are known but not in this version, and other keys that
  // are not in `known`.
  void only(const std::vector<std::string_view>& known, const std::vector<std::string_view>& later = {}) const;

  // ---- reports

  // Returns true if nothing has been reported yet: the first fault alone is told.
  bool reports() const { return report_->ok(); }
  // Reports that this value should be something else.
  void wrong(std::string_view expected, std::string hint = {}) const;
  // Reports with other words for what was found.
  void fault(std::string found, std::string expected, std::string hint = {}) const;
  // Reports the fault at the entry's key: for an entry of a map that is wrong as a whole.
  void fault_at_key(std::string found, std::string expected, std::string hint = {}) const;

 private:
  YamlValue child(const YamlNode& node) const;
  std::string found() const;
  YamlPlace key_place() const { return node_->has_key ? node_->key_place : node_->place; }
  // A value that is not there has no place of its own: that of its key is told.
  YamlPlace place() const { return is_nothing() ? key_place() : node_->place; }

  const YamlNode* node_;
  std::string path_;
  YamlReport* report_;
};

// 1610612736 → "1536 MiB": the least whole number of KiB or MiB that holds `bytes`, as `size` reads it.
std::string size_text(uint64_t bytes);

}  // namespace tailrace::impl
