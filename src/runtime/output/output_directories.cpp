#include "runtime/output/output_directories.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "format/file_name.hpp"
#include "format/plan/node_part.hpp"
#include "runtime/parts/provenance.hpp"

namespace tailrace::impl {
namespace {

constexpr std::string_view kWrites = ", writing '";
constexpr size_t kMostHolder = 255;

// The lock of a writer of the format plain, whose unfinished files nobody would know by their names: the lock's file,
// which has the pattern, stays as long as there are some. Of the files of several nodes, those count that lack the
// part of this one.
class PlainLock final : public NameLock {
 public:
  // `node`: this one's, if several write the files.
  PlainLock(std::unique_ptr<NameLock> lock, FileSystem& files, std::string directory, std::string pattern,
            std::optional<uint32_t> node)
      : lock_(std::move(lock)),
        files_(files),
        directory_(std::move(directory)),
        pattern_(std::move(pattern)),
        node_(node) {}
  PlainLock(const PlainLock&) = delete;
  PlainLock& operator=(const PlainLock&) = delete;
  ~PlainLock() override {
    const Result<std::vector<std::string>> names = files_.list(directory_);
    if (!names.ok()) return;
    const std::vector<std::string>& all = names.value();  // sorted
    const auto lacks_us = [&](const std::string& one) {
      return !node_ || !std::binary_search(all.begin(), all.end(), part_path(one, *node_));
    };
    const auto is_unfinished = [&](const std::string& one) { return is_part_of(pattern_, one) && lacks_us(one); };
    if (std::any_of(all.begin(), all.end(), is_unfinished)) leave_file();
  }

  bool held() const override { return lock_->held(); }
  void leave_file() override { lock_->leave_file(); }

 private:
  const std::unique_ptr<NameLock> lock_;
  FileSystem& files_;
  const std::string directory_;
  const std::string pattern_;
  const std::optional<uint32_t> node_;
};

}  // namespace

bool is_part_of(std::string_view pattern, std::string_view name) {
  constexpr std::string_view end = ".part";
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  return iteration_in(pattern, name) || is_xdmf_of(pattern, name);
}

std::string pattern_in_lock(const FileSystem& files, FileHandle lock) {
  std::array<std::byte, kMostHolder> text{};
  const Result<size_t> count = files.read(lock, 0, text);
  const std::string_view holder(reinterpret_cast<const char*>(text.data()), count.ok() ? count.value() : 0);
  const size_t begin = holder.find(kWrites);
  if (begin == std::string_view::npos || !holder.ends_with('\'')) return {};
  const std::string_view pattern = holder.substr(begin + kWrites.size());
  return std::string(pattern.substr(0, pattern.size() - 1));
}

Status make_output_directories(const Config& config, FileSystem& files) {
  for (const std::string& path : config.storage.paths) {
    if (Status status = files.make_directory(path); !status.ok()) return status;
  }
  return {};
}

Result<std::vector<std::unique_ptr<NameLock>>> take_output_directories(const Config& config, FileSystem& files,
                                                                       const std::string& who, int client, Log& log) {
  std::vector<std::unique_ptr<NameLock>> locks;
  std::string holder = fmt::format("process {} on {}", ::getpid(), machine_name());
  const bool plain = config.format.kind == FormatKind::plain && !config.variables.empty();
  const std::string pattern = plain ? pattern_of(config, client) : "";
  const std::string with_pattern = fmt::format("{}{}{}'", holder, kWrites, pattern);
  if (plain && with_pattern.size() <= kMostHolder) holder = with_pattern;
  if (Status made = make_output_directories(config, files); !made.ok()) return made;
  for (const std::string& path : config.storage.paths) {
    auto lock = files.lock(fmt::format("{}/.{}_{}.lock", path, config.name, who), holder);
    if (!lock.ok()) return lock.status();
    if (!lock.value()->held()) {
      log.warning("'{}' is on a file system without locks: a second writer {} would not be noticed", path, who);
    }
    locks.push_back(std::move(lock).value());
    if (!plain) continue;
    const auto node =
        config.nodes_share_files() ? std::optional(static_cast<uint32_t>(config.place.node)) : std::nullopt;
    locks.back() = std::make_unique<PlainLock>(std::move(locks.back()), files, path, pattern, node);
  }
  return locks;
}

}  // namespace tailrace::impl
