#include "runtime/output/earlier_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <limits>
#include <string_view>
#include <vector>

#include "base/names/counted.hpp"
#include "format/file_name.hpp"
#include "format/hdf5/inspect_file.hpp"
#include "format/plan/node_part.hpp"
#include "runtime/output/leftover.hpp"

namespace tailrace::impl {
namespace {

constexpr std::string_view kPart = ".part";

// The files of one series in one directory, sorted.
struct EarlierFiles {
  std::vector<std::string> published;
  std::vector<std::string> parts;
  std::vector<std::string> xdmf;  // files beside them, also unfinished ones
  // Parts of nodes beside `parts`, and those that are alone, since their file was published or removed.
  std::vector<std::string> of_nodes;
  std::vector<std::string> orphans;
  std::string dropped;  // the file that lists dropped iterations; empty: there is none

  bool empty() const { return published.empty() && parts.empty(); }
  // Leaves only unfinished files, and what belongs to them, and parts that are alone.
  void keep_parts() {
    published.clear();
    dropped.clear();
    std::erase_if(xdmf, [](const std::string& file) { return !file.ends_with(kPart); });
  }
  // Leaves, of the parts that are alone, those that this node has left.
  void keep_orphans_of(uint32_t node) {
    std::erase_if(orphans, [node](const std::string& part) {
      const std::string own = part_path(std::string(file_of_part(part)), node);
      return part != own && part != own + ".tmp";
    });
  }
  // Leaves the unfinished files that have data of this node.
  void keep_parts_with_data_of(uint32_t node, const FileSystem& files) {
    std::erase_if(parts, [&](const std::string& file) {
      const Result<NameFacts> part = files.stat(part_path(file, node));
      return !part.ok() || part.value().size == 0;
    });
  }
};

Result<EarlierFiles> find_earlier(const FileSystem& files, const std::string& directory, const Config& config,
                                  int client) {
  const std::string list = series_of(config, client) + ".dropped";
  const bool plain = config.format.kind == FormatKind::plain;
  EarlierFiles found;
  const Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  for (const std::string& name : names.value()) {
    std::string_view whole = name;
    const bool part = whole.ends_with(kPart);
    if (part) whole.remove_suffix(kPart.size());
    if (iteration_of(config, client, whole)) (part ? found.parts : found.published).push_back(directory + "/" + name);
    if (plain && is_xdmf_of(pattern_of(config, client), whole)) found.xdmf.push_back(directory + "/" + name);
    if (name == list) found.dropped = directory + "/" + name;
    const std::string file(file_of_part(name));
    if (!plain || file.empty()) continue;
    const std::string_view whole_file = std::string_view(file).substr(0, file.size() - kPart.size());
    if (!iteration_of(config, client, whole_file) && !is_xdmf_of(pattern_of(config, client), whole_file)) continue;
    const bool beside = files.stat(directory + "/" + file).ok();
    (beside ? found.of_nodes : found.orphans).push_back(directory + "/" + name);
  }
  return found;
}

Status refuse(const EarlierFiles& found) {
  const std::string& first = found.published.empty() ? found.parts.front() : found.published.front();
  const size_t count = found.published.size() + found.parts.size();
  const std::string parts =
      found.parts.empty()
          ? ""
          : fmt::format(", {} of them unfinished ('tailrace recover' sees to these)", found.parts.size());
  Fault fault;
  fault.code = TAILRACE_EXISTS;
  fault.operation = "open";
  fault.file = first;
  fault.message = fmt::format(
      "'{}' is of an earlier run: found {} of this name{}, expected none; use another storage.path, or set "
      "storage.existing: replace (they are removed) or continue (iterations are added to them)",
      first, counted(count, "file"), parts);
  return Status(std::move(fault));
}

// Other nodes may remove the same files.
Status remove_file(FileSystem& files, const std::string& file) {
  Status status = files.remove(file);
  return !status.ok() && status.fault().system_errno == ENOENT ? Status() : status;
}

Status remove_all(FileSystem& files, const std::string& directory, const EarlierFiles& found, Log& log) {
  std::vector<std::string> all = found.published;
  all.insert(all.end(), found.parts.begin(), found.parts.end());
  all.insert(all.end(), found.xdmf.begin(), found.xdmf.end());
  all.insert(all.end(), found.of_nodes.begin(), found.of_nodes.end());
  if (!found.dropped.empty()) all.push_back(found.dropped);
  for (const std::string& file : all) {
    if (Status status = remove_file(files, file); !status.ok()) return status;
  }
  if (!all.empty()) log.info("removed from '{}': {} of an earlier run", directory, counted(all.size(), "file"));
  return {};
}

// Nodes of this run must not find parts of an earlier one.
Status remove_orphans(FileSystem& files, const EarlierFiles& found) {
  for (const std::string& part : found.orphans) {
    if (Status status = remove_file(files, part); !status.ok()) return status;
  }
  return {};
}

// Returns another node that may still write its part of the file. This one has written all that it had.
std::optional<NodeOfFiles> other_node_awaited(const Config& config, FileSystem& files, const std::string& directory,
                                              int client, const std::string& file) {
  if (!config.nodes_share_files()) return std::nullopt;
  auto nodes = nodes_of_files(files, directory, pattern_of(config, client));
  if (!nodes.ok()) return NodeOfFiles{0, directory, "an unknown machine"};  // unknown, so the file stays
  std::erase_if(nodes.value(),
                [&](const NodeOfFiles& of) { return of.node == static_cast<uint32_t>(config.place.node); });
  return node_awaited(files, nodes.value(), file);
}

// Puts an empty file in the place of this node's part if there is none. Then no other node waits for it.
Status say_that_no_part_comes(const Config& config, FileSystem& files, const std::string& file) {
  const std::string path = part_path(file, static_cast<uint32_t>(config.place.node));
  if (files.stat(path).ok()) return {};
  const Result<Opened> opened = files.open(path, OpenMode::own_or_new, 0);
  if (!opened.ok()) return opened.status();
  files.close(opened.value().file);
  // Another node may have finished the file meanwhile, and removed the parts that it found.
  return files.stat(file).ok() ? Status() : remove_file(files, path);
}

// A whole XDMF file is published if the file that it belongs to is; any other one is removed: that file is what
// counts.
Status finish_xdmf(FileSystem& files, const std::string& directory, const std::string& part, Log& log) {
  const Leftover leftover =
      treat_part(files, part, directory, true, [](const std::string&) { return std::optional<NodeOfFiles>(); });
  if (!leftover.done) return remove_file(files, part);
  if (leftover.kind == TAILRACE_COMPLETE)
    log.warning("'{}', which an earlier run left, was complete, and is published", part);
  return {};
}

Status finish_parts(const Config& config, FileSystem& files, const std::string& directory, int client,
                    const EarlierFiles& found, Log& log, const CompleteJoint& complete) {
  for (const std::string& part : found.parts) {
    const auto awaited = [&](const std::string& file) {
      return other_node_awaited(config, files, directory, client, file);
    };
    const Leftover leftover = treat_part(files, part, directory, true, awaited, complete);
    if (leftover.kind == TAILRACE_IN_USE) {
      if (Status status = say_that_no_part_comes(config, files, part); !status.ok()) return status;
      log.info("{}", leftover.status.fault().message);
      continue;
    }
    if (!leftover.done) return leftover.status;
    const bool whole = leftover.kind == TAILRACE_COMPLETE;
    log.warning("'{}', which an earlier run left, was {}", part,
                whole ? "complete, and is published" : "incomplete, and is removed");
  }
  for (const std::string& file : found.xdmf) {
    if (!file.ends_with(kPart)) continue;
    if (Status status = finish_xdmf(files, directory, file, log); !status.ok()) return status;
  }
  return {};
}

}  // namespace

namespace {

// Returns the last iteration in a file of several.
Result<std::optional<int64_t>> last_in(FileSystem& files, const std::string& path) {
  const Result<std::optional<FileContents>> contents = read_contents(files, path);
  if (!contents.ok()) return contents.status();
  if (!contents.value() || contents.value()->iterations.empty()) return std::optional<int64_t>();
  return std::optional(contents.value()->iterations.iterations().back());
}

// Returns an iteration's time in the unit of this run; NaN if its file, which may be another program's, has none.
double time_of(const Config& config, FileSystem& files, const std::string& path, int64_t iteration) {
  const bool plain = config.format.kind == FormatKind::plain;
  const Result<FileTime> found = find_time(files, path, plain ? "/" : fmt::format("/data/{}", iteration));
  if (!found.ok()) return std::numeric_limits<double>::quiet_NaN();
  const auto& [time, unit] = found.value();
  // Exactly as it was, unless the unit has changed.
  return unit == config.time.unit.factor ? time : time * (unit / config.time.unit.factor);
}

}  // namespace

Result<LastIteration> last_iteration(const Config& config, FileSystem& files, int client) {
  LastIteration last;
  if (config.storage.existing != Existing::resume) return last;  // this run began without any
  std::string in;                                                // the file of the last one
  for (const std::string& directory : config.storage.paths) {
    const Result<EarlierFiles> found = find_earlier(files, directory, config, client);
    if (!found.ok()) return found.status();
    for (const std::string& path : found.value().published) {
      const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
      const Result<std::optional<int64_t>> number =
          config.storage.has_file_each() ? iteration_of(config, client, name) : last_in(files, path);
      if (!number.ok()) return number.status();
      if (number.value().value_or(-1) <= last.number) continue;
      last.number = *number.value();
      in = path;
    }
  }
  if (!in.empty()) last.time = time_of(config, files, in, last.number);
  return last;
}

Status make_way(const Config& config, FileSystem& files, int client, Log& log, const CompleteJoint& complete) {
  if (config.variables.empty()) return {};
  // The first node does it for all, before the others write: see storage.file_per. But what an earlier run has left
  // can only be finished when all of its nodes have written what they had, as a server does before clients come. So
  // each node looks for what it has written itself.
  const bool is_other_node = config.nodes_share_files() && config.place.node != 0;
  const auto node = static_cast<uint32_t>(config.place.node);
  const bool has_mark = config.nodes_share_files() && config.storage.existing == Existing::resume;
  std::vector<std::string> marks;
  for (const std::string& directory : config.storage.paths) {
    // It marks before it looks, so that the last node to open finds all files, and awaits no other.
    auto of_all = has_mark ? mark_opened(config, files, directory, client) : std::vector<std::string>();
    if (!of_all.ok()) return of_all.status();
    marks.insert(marks.end(), of_all.value().begin(), of_all.value().end());
    Result<EarlierFiles> found = find_earlier(files, directory, config, client);
    if (!found.ok()) return found.status();
    if (is_other_node) {
      found.value().keep_parts();
      if (of_all.value().empty()) found.value().keep_orphans_of(node);
      if (config.storage.existing == Existing::refuse) found.value().keep_parts_with_data_of(node, files);
    }
    if (Status status = remove_orphans(files, found.value()); !status.ok()) return status;
    if (found.value().empty() && found.value().dropped.empty() && found.value().xdmf.empty()) continue;
    if (config.storage.existing == Existing::refuse) {
      if (!found.value().empty()) return refuse(found.value());
      continue;
    }
    const bool replace = config.storage.existing == Existing::replace;
    Status status = replace ? remove_all(files, directory, found.value(), log)
                            : finish_parts(config, files, directory, client, found.value(), log, complete);
    if (!status.ok()) return status;
  }
  for (const std::string& mark : marks) {
    if (Status status = remove_file(files, mark); !status.ok()) return status;
  }
  return {};
}

}  // namespace tailrace::impl
