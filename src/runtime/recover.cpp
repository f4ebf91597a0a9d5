#include "runtime/recover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "format/file_name.hpp"
#include "format/plan/node_part.hpp"
#include "runtime/core/shared_leavings.hpp"
#include "runtime/output/output_directories.hpp"
#include "runtime/parts/open_storage.hpp"
#include "runtime/parts/provenance.hpp"

namespace tailrace::impl {
namespace {

// The leftovers of one writer, or of several that write files of one pattern: their `.part` files, and the writers
// whose lock files are there. Writers are named like their locks: "<name>_c<id>", "<name>_n<node>", "<name>_job".
struct Leavings {
  std::vector<std::string> parts;
  std::vector<std::string> locked;
  std::string pattern = {};  // of files of the format plain
};

// Removes `suffix` from the end of `text`; returns false if `text` does not end with it.
bool strip(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Removes the digits at the end of `text`; returns false if there are fewer than `least`.
bool strip_number(std::string_view& text, size_t least = 1) {
  const size_t last = text.find_last_not_of("0123456789");
  const size_t begin = last == std::string_view::npos ? 0 : last + 1;
  if (text.size() - begin < least) return false;
  text.remove_suffix(text.size() - begin);
  return true;
}

// Returns true if `text` is "<name>_c<id>", or "<name>_n<node>" for one file for each node.
bool is_client(std::string_view text) {
  return strip_number(text) && (strip(text, "_c") || strip(text, "_n")) && !text.empty();
}

// Returns the writer of a file of this name, or "": "<client>_<iteration>.h5.part", or "<name>_<iteration>.h5.part"
// of a job.
std::string writer_of_part(std::string_view name) {
  const bool is_part = strip(name, ".h5.part") && strip_number(name, 6) && strip(name, "_") && !name.empty();
  if (!is_part) return {};
  return is_client(name) ? std::string(name) : std::string(name) + "_job";
}

// Returns the writer of a lock: ".<client>.lock", ".<name>_job.lock".
std::string writer_of_lock(std::string_view name) {
  if (!strip(name, ".lock") || !name.starts_with("."))
    return {};  // first the suffix: the two share the dot of
                // ".lock"
  name.remove_prefix(1);
  const bool job = name.size() > std::string_view("_job").size() && name.ends_with("_job");
  return job || is_client(name) ? std::string(name) : std::string();
}

// Returns the leftovers, by the first of their writers.
Result<std::map<std::string, Leavings>> find_leavings(FileSystem& files, const std::string& directory) {
  const Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  std::map<std::string, Leavings> writers;
  std::map<std::string, std::string> by_pattern;
  for (const std::string& name : names.value()) {
    if (const auto writer = writer_of_part(name); !writer.empty())
      writers[writer].parts.push_back(directory + "/" + name);
    const auto writer = writer_of_lock(name);
    if (writer.empty()) continue;
    const std::string pattern = text_of_lock(files, directory + "/" + name).pattern;
    const auto [first, is_new] = by_pattern.try_emplace(pattern.empty() ? "writer " + writer : pattern, writer);
    Leavings& of = writers[first->second];
    of.locked.push_back(writer);
    of.pattern = pattern;
    if (!is_new || pattern.empty()) continue;
    for (const std::string& part : names.value()) {
      if (is_part_of(pattern, part) && writer_of_part(part).empty()) of.parts.push_back(directory + "/" + part);
    }
  }
  return writers;
}

Leftover left_alone(const std::string& file, const std::string& job) {
  return {
      file, TAILRACE_IN_USE, false,
      Status(TAILRACE_CLIENT_IN_USE,
             fmt::format("left alone: data for it wait in shared memory, in job '{}', which a server has to write",
                         job))};
}

// Returns true if the files of a client whose lock was taken may be treated. False if the client is alive, or may be:
// on a file system without locks this cannot be known as long as its lock file exists.
bool may_treat(Result<std::unique_ptr<NameLock>>& lock, bool file_was_there) {
  if (!lock.ok()) return lock.status().code() != TAILRACE_CLIENT_IN_USE;
  if (lock.value()->held() || !file_was_there) return true;
  lock.value()->leave_file();
  return false;
}

// Treats files that several nodes wrote and closed, but that were never completed, and XDMF files beside published
// ones: their writers left no lock. Those of `treated` patterns are not among them.
void treat_unlocked(FileSystem& files, const std::string& directory, const std::map<std::string, Leavings>& treated,
                    bool apply, const std::function<void(const Leftover&)>& each) {
  const auto is_unlocked = [&](std::string_view file) {
    return std::none_of(treated.begin(), treated.end(), [file](const auto& writer) {
      return iteration_in(writer.second.pattern, file) || is_xdmf_of(writer.second.pattern, file);
    });
  };
  const Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return;
  std::set<std::string> unfinished;
  for (const std::string& name : names.value()) {
    // An XDMF file gets its name last, when nothing else of its file is unfinished.
    const bool is_xdmf = name.ends_with(".xmf.part");
    const std::string_view file = is_xdmf ? std::string_view(name) : file_of_part(name);
    if (file.empty()) continue;
    const std::string_view whole = file.substr(0, file.rfind('.'));
    if (!is_unlocked(whole)) continue;
    const std::string beside = is_xdmf ? file_of_xdmf(whole) : std::string(file);
    if (files.stat(directory + "/" + beside).ok()) unfinished.emplace(file);
  }
  for (const std::string& file : unfinished) {
    each(
        treat_part(files, directory + "/" + file, directory, apply, [](const std::string&) { return std::nullopt; }));
  }
  treat_parts_of_nodes(files, directory, apply, is_unlocked, each);
}

// The locks of some writers, held so that none of them can open meanwhile. Releasing them removes their files, stale
// or new.
class HeldLocks {
 public:
  HeldLocks(FileSystem& files, const std::string& directory, const std::vector<std::string>& writers,
            const Leavings& of) {
    for (const std::string& writer : writers) {
      const bool was_there = std::find(of.locked.begin(), of.locked.end(), writer) != of.locked.end();
      locks_.push_back(files.lock(lock_path(directory, writer), ""));
      if (!may_treat(locks_.back(), was_there)) in_use_ = true;
      if (!in_use_ && status_.ok()) status_ = locks_.back().status();
    }
  }

  static std::string lock_path(const std::string& directory, const std::string& writer) {
    return directory + "/." + writer + ".lock";
  }
  bool in_use() const { return in_use_; }
  // Returns why a lock could not be taken, if not because a writer has it.
  const Status& status() const { return status_; }

 private:
  std::vector<Result<std::unique_ptr<NameLock>>> locks_;
  bool in_use_ = false;
  Status status_;
};

// Returns the nodes on other machines that lack a part of these files, so that data for it may wait in their memory.
// (`job_with_data_of` knows this machine's.)
std::vector<NodeOfFiles> nodes_elsewhere(FileSystem& files, const std::string& directory, const Leavings& of) {
  if (of.pattern.empty()) return {};
  auto nodes = nodes_of_files(files, directory, of.pattern);
  if (!nodes.ok()) return {};
  std::erase_if(nodes.value(), [&](const NodeOfFiles& node) {
    const auto is_awaited = [&](const std::string& part) { return node_awaited(files, {node}, part).has_value(); };
    return node.machine == machine_name() || std::none_of(of.parts.begin(), of.parts.end(), is_awaited);
  });
  return std::move(nodes).value();
}

// Treats what the writers have left.
void treat(FileSystem& files, const std::string& directory, const std::string& writer, const Leavings& of, bool apply,
           const std::function<void(const Leftover&)>& each) {
  const std::vector<NodeOfFiles> elsewhere = nodes_elsewhere(files, directory, of);
  std::vector<std::string> writers = of.locked;
  std::erase_if(writers, [&](const std::string& one) {
    const auto is_lock_of = [&](const NodeOfFiles& node) {
      return node.lock == HeldLocks::lock_path(directory, one);
    };
    return std::any_of(elsewhere.begin(), elsewhere.end(), is_lock_of);
  });
  const std::vector<std::string> locks = writers;
  if (of.locked.empty()) writers.push_back(writer);
  std::optional<HeldLocks> held;
  if (apply) held.emplace(files, directory, writers, of);
  const auto is_locked = [&](const std::string& one) {
    return files.is_locked(HeldLocks::lock_path(directory, one));
  };
  const bool in_use = (apply ? held->in_use() : std::any_of(writers.begin(), writers.end(), is_locked)) ||
                      std::any_of(elsewhere.begin(), elsewhere.end(),
                                  [&](const NodeOfFiles& node) { return files.is_locked(node.lock); });
  const Status locked = apply && !in_use ? held->status() : Status();
  // With the locks held, no server can have come since.
  std::string job;
  for (const std::string& one : writers) {
    if (job.empty() && !in_use && !of.parts.empty()) job = job_with_data_of(directory, one);
  }
  const bool may = apply && locked.ok();
  for (const std::string& part : of.parts) {
    if (!job.empty()) {
      each(left_alone(part, job));
      continue;
    }
    Leftover left = in_use ? Leftover{part, TAILRACE_IN_USE, false, {}}
                           : treat_part(files, part, directory, may, [&](const std::string& file) {
                               return node_awaited(files, elsewhere, file);
                             });
    if (left.status.ok()) left.status = locked;
    each(left);
  }
  if (in_use) return;
  const auto is_ours = [&of](std::string_view file) {
    return iteration_in(of.pattern, file) || is_xdmf_of(of.pattern, file);
  };
  if (job.empty() && !of.pattern.empty()) treat_parts_of_nodes(files, directory, may, is_ours, each);
  for (const std::string& one : locks) {
    if (may) (void)files.remove(mark_path(HeldLocks::lock_path(directory, one)));
    each({HeldLocks::lock_path(directory, one), TAILRACE_STALE_LOCK, may, locked});
  }
}

}  // namespace

Status recover(FileSystem& files, const std::string& directory, bool apply,
               const std::function<void(const Leftover&)>& each) {
  const auto writers = find_leavings(files, directory);
  if (!writers.ok()) return writers.status();
  for (const auto& [writer, of] : writers.value()) treat(files, directory, writer, of, apply, each);
  treat_unlocked(files, directory, writers.value(), apply, each);
  return {};
}

Status recover(const std::string& directory, bool apply, const std::function<void(const Leftover&)>& each) {
  return recover(*open_file_system(Backend::automatic), directory, apply, each);
}

}  // namespace tailrace::impl
