#include "runtime/output/output_directories.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "format/file_name.hpp"
#include "format/plan/node_part.hpp"
#include "runtime/parts/provenance.hpp"

namespace tailrace::impl {
namespace {

constexpr std::string_view kOn = " on ";
constexpr std::string_view kWrites = ", writing '";
constexpr size_t kMostHolder = 255;

// The lock of a writer of the format plain, whose unfinished files cannot be told by their names: the lock's file,
// which has the pattern, stays as long as there are some. Of the files of several nodes, those count that lack the
// part of this one. The mark of a node goes with its lock.
class PlainLock final : public NameLock {
 public:
  // `node`: this one's, if several write the files, and `mark` its mark.
  PlainLock(std::unique_ptr<NameLock> lock, FileSystem& files, std::string directory, std::string pattern,
            std::optional<uint32_t> node, std::string mark)
      : lock_(std::move(lock)),
        files_(files),
        directory_(std::move(directory)),
        pattern_(std::move(pattern)),
        node_(node),
        mark_(std::move(mark)) {}
  PlainLock(const PlainLock&) = delete;
  PlainLock& operator=(const PlainLock&) = delete;
  ~PlainLock() override {
    if (node_) (void)files_.remove(mark_);
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
  const std::string mark_;
};

// Returns the node of a lock file of this name, ".<name>_n<node>.lock"; none if it is no node's.
std::optional<uint32_t> node_of_lock(std::string_view name) {
  constexpr std::string_view end = ".lock";
  if (!name.starts_with('.') || !name.ends_with(end)) return std::nullopt;
  name.remove_suffix(end.size());
  const size_t begin = name.find_last_not_of("0123456789") + 1;
  if (begin < 3 || name.substr(begin - 2, 2) != "_n") return std::nullopt;
  uint32_t node = 0;
  const auto [last, error] = std::from_chars(name.data() + begin, name.data() + name.size(), node);
  if (error != std::errc() || begin == name.size()) return std::nullopt;
  return node;
}

// Returns an unfinished file of the pattern that lacks the part of this node; none if there is none.
Result<std::optional<std::string>> file_without_us(const Config& config, FileSystem& files,
                                                   const std::string& directory, const std::string& pattern) {
  const Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  for (const std::string& name : names.value()) {
    std::string file = directory + "/" + name;
    const bool has_part = files.stat(part_path(file, static_cast<uint32_t>(config.place.node))).ok();
    if (is_part_of(pattern, name) && !has_part) return std::optional(std::move(file));
  }
  return std::optional<std::string>();
}

// A node's data may wait where this server does not look: on another machine, or under another `name`. As long as
// they may, this one must neither take its lock nor say that no part comes.
Status check_earlier_node(const Config& config, FileSystem& files, const std::string& directory,
                          const std::string& lock, const std::string& pattern) {
  const Result<std::vector<NodeOfFiles>> nodes = nodes_of_files(files, directory, pattern);
  if (!nodes.ok()) return nodes.status();
  for (const NodeOfFiles& earlier : nodes.value()) {
    if (earlier.node != static_cast<uint32_t>(config.place.node)) continue;
    if (earlier.lock == lock && earlier.machine == machine_name()) continue;  // what was there is written
    const auto file = file_without_us(config, files, directory, pattern);
    if (!file.ok()) return file.status();
    if (!file.value()) continue;
    Fault fault;
    fault.code = TAILRACE_EXISTS;
    fault.operation = "open";
    fault.file = *file.value();
    fault.message = fmt::format(
        "'{}' is of an earlier run, in which {} was node {}, with the lock '{}': its data may still wait there; run "
        "'tailrace recover' there, or remove '{}' to give them up",
        fault.file, earlier.machine, earlier.node, earlier.lock, earlier.lock);
    return Status(std::move(fault));
  }
  return {};
}

std::string lock_path(const Config& config, const std::string& directory, const std::string& who) {
  return fmt::format("{}/.{}_{}.lock", directory, config.name, who);
}

}  // namespace

bool is_part_of(std::string_view pattern, std::string_view name) {
  constexpr std::string_view end = ".part";
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  return iteration_in(pattern, name) || is_xdmf_of(pattern, name);
}

LockText text_of_lock(FileSystem& files, const std::string& path) {
  const Result<Opened> opened = files.open(path, OpenMode::own_read, 0);
  if (!opened.ok()) return {};
  std::array<std::byte, kMostHolder> text{};
  const Result<size_t> count = files.read(opened.value().file, 0, text);
  files.close(opened.value().file);
  std::string_view holder(reinterpret_cast<const char*>(text.data()), count.ok() ? count.value() : 0);
  holder = holder.substr(0, holder.find('\n'));
  const size_t machine = holder.find(kOn);
  const size_t pattern = holder.find(kWrites);
  if (machine == std::string_view::npos) return {};
  const size_t begin = machine + kOn.size();
  LockText found{.machine = std::string(holder.substr(begin, pattern - begin)), .pattern = {}};
  if (pattern == std::string_view::npos || !holder.ends_with('\'')) return found;
  found.pattern = holder.substr(pattern + kWrites.size());
  found.pattern.pop_back();
  return found;
}

Result<std::vector<NodeOfFiles>> nodes_of_files(FileSystem& files, const std::string& directory,
                                                std::string_view pattern) {
  const Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  std::vector<NodeOfFiles> nodes;
  for (const std::string& name : names.value()) {
    const std::optional<uint32_t> node = node_of_lock(name);
    if (!node) continue;
    const std::string path = directory + "/" + name;
    LockText text = text_of_lock(files, path);
    // Its holder may not have written its name yet, or it may not be readable now: then this node is waited for.
    const bool is_unknown = text.machine.empty() && files.is_locked(path);
    if (is_unknown) text.machine = "an unknown machine";
    if (!is_unknown && text.pattern != pattern) continue;
    const bool opened = files.stat(mark_path(path)).ok() && files.is_locked(path);
    nodes.push_back({*node, path, std::move(text.machine), opened});
  }
  return nodes;
}

std::optional<NodeOfFiles> node_awaited(const FileSystem& files, const std::vector<NodeOfFiles>& nodes,
                                        const std::string& unfinished) {
  const auto is_awaited = [&](const NodeOfFiles& of) {
    return !of.opened && !files.stat(part_path(unfinished, of.node)).ok();
  };
  const auto found = std::find_if(nodes.begin(), nodes.end(), is_awaited);
  return found == nodes.end() ? std::nullopt : std::optional(*found);
}

std::string mark_path(const std::string& lock) { return lock.substr(0, lock.rfind('.')) + ".opened"; }

Result<std::vector<std::string>> mark_opened(const Config& config, FileSystem& files, const std::string& directory,
                                             int client) {
  const std::string lock = lock_path(config, directory, fmt::format("n{}", config.place.node));
  const Result<Opened> opened = files.open(mark_path(lock), OpenMode::own_or_new, 0);
  if (!opened.ok()) return opened.status();
  files.close(opened.value().file);
  std::vector<std::string> marks;
  const auto nodes = nodes_of_files(files, directory, pattern_of(config, client));
  if (!nodes.ok()) return marks;
  for (const NodeOfFiles& node : nodes.value()) {
    if (node.opened) marks.push_back(mark_path(node.lock));
  }
  if (marks.size() < static_cast<size_t>(config.place.nodes)) marks.clear();
  return marks;
}

Status make_output_directories(const Config& config, FileSystem& files) {
  for (const std::string& path : config.storage.paths) {
    if (Status status = files.make_directory(path); !status.ok()) return status;
  }
  return {};
}

Status check_not_given_up(const Config& config, const FileSystem& files, const std::string& who) {
  const bool has_marks = config.nodes_share_files() && config.format.kind == FormatKind::plain;
  if (!has_marks || config.variables.empty()) return {};
  for (const std::string& path : config.storage.paths) {
    const std::string lock = lock_path(config, path, who);
    if (const Status there = files.stat(lock).status(); there.ok() || there.fault().system_errno != ENOENT) continue;
    Fault fault;
    fault.code = TAILRACE_NOT_PUBLISHED;
    fault.operation = "open";
    fault.file = lock;
    fault.message = fmt::format(
        "'{}' of an earlier server of node {} was removed, so that other nodes have gone on without its data: these "
        "are given up, since the files that they belong to are gone",
        lock, config.place.node);
    return Status(std::move(fault));
  }
  return {};
}

Result<std::vector<std::unique_ptr<NameLock>>> take_output_directories(const Config& config, FileSystem& files,
                                                                       const std::string& who, int client, Log& log) {
  std::vector<std::unique_ptr<NameLock>> locks;
  std::string holder = fmt::format("process {}{}{}", ::getpid(), kOn, machine_name());
  const bool plain = config.format.kind == FormatKind::plain && !config.variables.empty();
  const std::string pattern = plain ? pattern_of(config, client) : "";
  const std::string with_pattern = fmt::format("{}{}{}'", holder, kWrites, pattern);
  if (plain && with_pattern.size() <= kMostHolder) holder = with_pattern;
  if (Status made = make_output_directories(config, files); !made.ok()) return made;
  for (const std::string& path : config.storage.paths) {
    const std::string file = lock_path(config, path, who);
    if (plain && config.nodes_share_files() && node_of_lock(file.substr(path.size() + 1))) {
      if (Status status = check_earlier_node(config, files, path, file, pattern); !status.ok()) return status;
    }
    const auto node = plain && config.nodes_share_files() ? std::optional(static_cast<uint32_t>(config.place.node))
                                                          : std::optional<uint32_t>();
    if (node) (void)files.remove(mark_path(file));  // its run is over
    auto lock = files.lock(file, holder);
    if (!lock.ok()) return lock.status();
    if (!lock.value()->held()) {
      log.warning("'{}' is on a file system without locks: a second writer {} would not be noticed", path, who);
    }
    locks.push_back(std::move(lock).value());
    if (!plain) continue;
    locks.back() = std::make_unique<PlainLock>(std::move(locks.back()), files, path, pattern, node, mark_path(file));
  }
  return locks;
}

}  // namespace tailrace::impl
