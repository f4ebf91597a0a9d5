#include "config/config_difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tailrace::impl {
namespace {

std::string told(const std::string& value) { return value; }
std::string told(const std::vector<std::string>& values) { return fmt::format("{}", fmt::join(values, ", ")); }
std::string told(bool value) { return value ? "true" : "false"; }
std::string told(Durability value) { return name_of(value); }
std::string told(FilePer value) { return name_of(value); }
std::string told(ReadAfter value) { return value == ReadAfter::written ? "written" : "submitted"; }
std::string told(Visibility value) { return value == Visibility::pending ? "pending" : "written"; }
template <typename Number>
std::string told(const Number& value) {
  return fmt::format("{}", value);
}

// Keeps the first key whose values differ.
class First {
 public:
  template <typename Value>
  void compare(const char* key, const Value& one, const Value& other) {
    if (!difference_ && !(one == other)) difference_ = {key, told(one), told(other)};
  }
  // Names no value: it is too long for a message.
  template <typename Value>
  void compare_whole(const char* key, const Value& one, const Value& other) {
    if (!difference_ && !(one == other)) difference_ = {key, "another", "that of the first client"};
  }
  const std::optional<ConfigDifference>& difference() const { return difference_; }

 private:
  std::optional<ConfigDifference> difference_;
};

void compare_merge(const MergeSettings& one, const MergeSettings& other, First& first) {
  first.compare("merge.enabled", one.enabled, other.enabled);
  first.compare("merge.overwrite", one.overwrite, other.overwrite);
  first.compare("merge.largest", one.largest, other.largest);
  first.compare("merge.alignment", one.alignment, other.alignment);
  first.compare("merge.count", one.count, other.count);
  first.compare("merge.bytes", one.bytes, other.bytes);
  first.compare("merge.delay", one.delay, other.delay);
  first.compare("merge.by", std::string(one.by_count ? "count" : "storage"),
                std::string(other.by_count ? "count" : "storage"));
  first.compare("merge.sieve", one.sieve, other.sieve);
  first.compare("merge.waste", one.waste, other.waste);
  first.compare("merge.read_after", one.read_after, other.read_after);
  first.compare("merge.visibility", one.visibility, other.visibility);
}

}  // namespace

std::optional<ConfigDifference> config_difference(const NodeConfig& found, const NodeConfig& expected) {
  First first;
  first.compare("name", found.name, expected.name);
  first.compare("storage.path", found.storage.paths, expected.storage.paths);
  first.compare_whole("storage.stripe", found.storage.stripes, expected.storage.stripes);
  first.compare("storage.durability", found.storage.durability, expected.storage.durability);
  first.compare("storage.file_per", found.storage.file_per, expected.storage.file_per);
  first.compare("storage.iterations_per_file", found.storage.iterations_per_file,
                expected.storage.iterations_per_file);
  first.compare_whole("actions", found.actions, expected.actions);
  first.compare("place.clients", found.place.clients, expected.place.clients);
  first.compare("place.node", found.place.node, expected.place.node);
  first.compare("place.nodes", found.place.nodes, expected.place.nodes);
  first.compare("storage.slots", found.storage.slots, expected.storage.slots);
  first.compare_whole("format.kind", found.format.kind, expected.format.kind);
  first.compare("format.file", found.format.file, expected.format.file);
  first.compare_whole("format.xdmf", found.format.xdmf, expected.format.xdmf);
  first.compare_whole("format.meshes", found.format.meshes, expected.format.meshes);
  first.compare("format.dimension_scales", found.format.dimension_scales, expected.format.dimension_scales);
  first.compare_whole("schedule", found.schedule, expected.schedule);
  first.compare_whole("forward", found.forward, expected.forward);
  compare_merge(found.merge, expected.merge, first);
  first.compare_whole("configuration", found, expected);  // a key that has no line here
  return first.difference();
}

}  // namespace tailrace::impl
