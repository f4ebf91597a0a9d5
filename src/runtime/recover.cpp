#include "runtime/recover.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/core/shared_leavings.hpp"
#include "runtime/output/output_directories.hpp"
#include "runtime/parts/open_storage.hpp"

namespace tailrace::impl {
namespace {

// The leftovers of one writer: its `.part` files, and its lock file if there is one. Writers are named like their
// locks: "<name>_c<id>", "<name>_n<node>", "<name>_job".
struct Leavings {
  std::vector<std::string> parts;
  bool lock = false;
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

// Returns the pattern of the files that the writer of this lock file has, if they are of the format plain.
std::string pattern_of_lock(FileSystem& files, const std::string& path) {
  const Result<Opened> opened = files.open(path, OpenMode::own_read, 0);
  if (!opened.ok()) return {};
  std::string pattern = pattern_in_lock(files, opened.value().file);
  files.close(opened.value().file);
  return pattern;
}

Result<std::map<std::string, Leavings>> find_leavings(FileSystem& files, const std::string& directory) {
  const Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  std::map<std::string, Leavings> writers;
  for (const std::string& name : names.value()) {
    if (const auto writer = writer_of_part(name); !writer.empty())
      writers[writer].parts.push_back(directory + "/" + name);
    const auto writer = writer_of_lock(name);
    if (writer.empty()) continue;
    writers[writer].lock = true;
    const std::string pattern = pattern_of_lock(files, directory + "/" + name);
    for (const std::string& part : names.value()) {
      const bool is_own = !pattern.empty() && is_part_of(pattern, part) && writer_of_part(part).empty();
      if (is_own) writers[writer].parts.push_back(directory + "/" + part);
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
// on a file system without locks nobody can know, as long as its lock file exists.
bool may_treat(Result<std::unique_ptr<NameLock>>& lock, bool file_was_there) {
  if (!lock.ok()) return lock.status().code() != TAILRACE_CLIENT_IN_USE;
  if (lock.value()->held() || !file_was_there) return true;
  lock.value()->leave_file();
  return false;
}

}  // namespace

Status recover(FileSystem& files, const std::string& directory, bool apply,
               const std::function<void(const Leftover&)>& each) {
  const auto writers = find_leavings(files, directory);
  if (!writers.ok()) return writers.status();
  for (const auto& [writer, of] : writers.value()) {
    const std::string lock_path = directory + "/." + writer + ".lock";
    // Hold the writer's lock while its files are treated, so that it cannot open meanwhile. Releasing the lock
    // removes its file, stale or new.
    std::optional<Result<std::unique_ptr<NameLock>>> lock;
    if (apply) lock.emplace(files.lock(lock_path, ""));
    const bool in_use = apply ? !may_treat(*lock, of.lock) : files.is_locked(lock_path);
    const Status locked = apply && !in_use ? lock->status() : Status();
    // With the lock held, no server can have come since.
    const std::string job = in_use || of.parts.empty() ? std::string() : job_with_data_of(directory, writer);
    for (const std::string& part : of.parts) {
      if (!job.empty()) {
        each(left_alone(part, job));
        continue;
      }
      Leftover left = in_use ? Leftover{part, TAILRACE_IN_USE, false, {}}
                             : treat_part(files, part, directory, apply && locked.ok());
      if (left.status.ok()) left.status = locked;
      each(left);
    }
    if (of.lock && !in_use) each({lock_path, TAILRACE_STALE_LOCK, apply && locked.ok(), locked});
  }
  return {};
}

Status recover(const std::string& directory, bool apply, const std::function<void(const Leftover&)>& each) {
  return recover(*open_file_system(Backend::automatic), directory, apply, each);
}

}  // namespace tailrace::impl
