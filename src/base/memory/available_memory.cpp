#include "base/memory/available_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace tailrace::impl {
namespace {

// The files of one version of control groups.
struct GroupFiles {
  const char* mount;
  const char* limit;
  const char* used;
  const char* prefix;  // prefix of the lines of memory.stat that include descendants
};
constexpr GroupFiles kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_"};
constexpr GroupFiles kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.current", ""};

// Returns the number that a file consists of; none if there is no file, or it contains a word ("max").
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// Returns the sum of the numbers that follow these names in the lines of a file.
uint64_t sum_of(const std::string& path, std::initializer_list<std::string> names) {
  std::ifstream file(path);
  uint64_t sum = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    uint64_t number = 0;
    if (fields >> name >> number && std::find(names.begin(), names.end(), name) != names.end()) sum += number;
  }
  return sum;
}

// Returns how many bytes the group may still use; none if it has no limit. The page cache counts as unused, since the
// system can drop it.
std::optional<uint64_t> left_in(const std::string& group, const GroupFiles& files) {
  const auto limit = number_in(group + "/" + files.limit);
  const auto used = number_in(group + "/" + files.used);
  if (!limit || !used) return std::nullopt;
  const std::string prefix = files.prefix;
  const uint64_t cached = sum_of(group + "/memory.stat", {prefix + "inactive_file", prefix + "active_file"});
  const uint64_t held = *used - std::min(cached, *used);
  return *limit - std::min(held, *limit);
}

// Looks at the group and its ancestors. Inside a container, neither the ancestors nor the group's own name are
// visible.
void look_at_groups(const std::string& root, std::string path, const GroupFiles& files, uint64_t swap,
                    AvailableMemory& least) {
  for (;;) {
    const auto left = left_in(root + files.mount + path, files);
    if (left && *left + swap < least.bytes) {
      least = {*left + swap, fmt::format("the control group '{}'", path.empty() ? "/" : path)};
    }
    if (path.empty()) return;
    path.erase(path.rfind('/'));
  }
}

}  // namespace

AvailableMemory available_memory(const std::string& root) {
  AvailableMemory least;
  const std::string meminfo = root + "/proc/meminfo";
  const uint64_t swap = sum_of(meminfo, {"SwapFree:"}) << 10;
  if (const uint64_t there = sum_of(meminfo, {"MemAvailable:"}) << 10; there > 0) {
    least = {there + swap, "this machine"};
  }
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (!path.empty() && path[0] != '/') continue;
    if (controllers == ",,") look_at_groups(root, path, kVersion2, swap, least);
    if (controllers.find(",memory,") != std::string::npos) look_at_groups(root, path, kVersion1, swap, least);
  }
  return least;
}

Status check_available(uint64_t bytes, uint64_t promised) {
  const AvailableMemory there = available_memory();
  if (promised <= there.bytes && bytes <= there.bytes - promised) return {};
  std::string left = fmt::format("{} MiB left", there.bytes >> 20);
  if (promised > 0) left += fmt::format(" ({} MiB of them for other clients)", promised >> 20);
  return Status(TAILRACE_OUT_OF_MEMORY,
                fmt::format("memory: the budget is {} MiB, and {} has {}", bytes >> 20, there.of, left));
}

}  // namespace tailrace::impl
