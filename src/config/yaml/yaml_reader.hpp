// YamlValue: one value of the configuration file, read as the type that is expected.
//
// It lies between the tree (yaml_document) and the schema (config_yaml, config_arrays). Every getter returns the
// file's value. If that is wrong, the getter reports found and expected with file, line, column and key, and returns
// a harmless value, so that a schema reads like a list of its keys. A schema that compares values with each other
// asks first whether they are right. It gives keys no meaning.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "config/yaml/yaml_document.hpp"

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
  // Returns the scalar as it is in the file; empty if this is no scalar.
  const std::string& raw() const { return node_->text; }

  // ---- scalars

  // Returns a text that is not empty and has no control characters.
  std::string text(std::string_view expected) const;
  // Returns a text that may be empty or have several lines.
  std::string prose() const;
  // Returns a text for which `accept` returns true.
  std::string name(bool (*accept)(std::string_view), std::string_view expected) const;
  int64_t integer(int64_t least, int64_t most = std::numeric_limits<int64_t>::max()) const;
  // Returns the scalar as an integer; none, without a report, if it is not one.
  std::optional<int64_t> maybe_integer() const;
  // Returns the scalar as a finite number; none, without a report, if it is not one.
  std::optional<double> maybe_number() const;
  // Returns a finite number.
  double number(std::string_view expected) const;
  bool flag() const;
  // Reads a size: "1 GiB", "256MiB", 4096.
  static constexpr uint64_t kMostSize = uint64_t{1} << 60;  // the sum of a few does not overflow
  uint64_t size(uint64_t least, uint64_t most = kMostSize) const;
  // Reads a rate, "800 MiB/s" or "1.5GB/s", in bytes a second. A report also names `words`, which may stand instead.
  uint64_t rate(uint64_t least, std::string_view words) const;
  // Reads a time with its unit: "8 ms", "0.5s". A report also shows `examples`.
  Nanoseconds duration(Nanoseconds least, Nanoseconds most, std::string_view examples) const;
  // Reads a time in seconds from `least` to `most`, without a unit or with one: 600, "2 s", "10 min".
  double seconds(double least, double most, std::string_view expected) const;
  // Returns the index of the scalar in `words`; 0 after a report, whose hint is `remark` where no word is similar.
  size_t choice(const std::vector<std::string_view>& words, std::string_view remark = "") const;

  // ---- lists and maps

  // Returns the items; none after a report.
  std::vector<YamlValue> items(std::string_view expected) const;
  // Returns the entries of a map; none after a report.
  std::vector<YamlValue> entries(std::string_view expected) const;
  std::optional<YamlValue> find(std::string_view key) const;
  // Reads the key into an enumeration whose values, from 0 on, have these words. Changes nothing if the key is
  // missing.
  template <typename Enum>
  void choose(std::string_view key, const std::vector<std::string_view>& words, Enum& into) const {
    if (const auto value = find(key)) into = static_cast<Enum>(value->choice(words));
  }
  // Returns the entry of the key, and reports if it is missing.
  std::optional<YamlValue> require(std::string_view key, std::string_view expected) const;
  // Reports a value that is no map, and any key that is not in `known`; the first of these is the main one, for which
  // a hint takes a scalar. Keys in `later` are reported as not in this
  // version. A missing key that was probably meant by an unknown one is doubted, and not required any more.
  void only(const std::vector<std::string_view>& known, const std::vector<std::string_view>& later = {}) const;

  // ---- reports

  // Returns true if nothing has been reported of this value or a part of it, and reports are still recorded.
  bool is_right() const { return !report_->doubts(path_); }
  // Returns true if nothing has been reported of the values of these keys, each a whole path from the top, or of
  // their parts. A check that compares them would otherwise report what another mistake causes.
  bool trusts(std::initializer_list<std::string_view> paths) const;
  // Treats this value as wrong without a report: it depends on another one, which is wrong.
  void doubt() const { report_->doubt(path_); }
  // Reports that this value should be something else.
  void wrong(std::string_view expected, std::string hint = {}) const;
  // Reports a fault with a text of its own for what was found.
  void fault(std::string found, std::string expected, std::string hint = {}) const;
  // Reports the fault at the entry's key, if the whole entry of a map is wrong.
  void fault_at_key(std::string found, std::string expected, std::string hint = {}) const;

 private:
  YamlValue child(const YamlNode& node) const;
  std::string path_of(std::string_view key) const;

  const YamlNode* node_;
  std::string path_;
  YamlReport* report_;
};

// Returns a size as text: 1610612736 → "1536 MiB", the least whole number of KiB or MiB that holds `bytes`, or TiB
// without a remainder, as `size` reads it.
std::string size_text(uint64_t bytes);
// Returns a time as text, in the largest unit of which it is a whole number: 90'000'000'000 ns → "90 s".
std::string duration_text(Nanoseconds time);

}  // namespace tailrace::impl
