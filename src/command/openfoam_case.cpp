#include "command/openfoam_case.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "base/os/file_descriptor.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

using Names = std::set<std::string>;

// Returns true for the names that OpenFOAM gives times: it takes every directory for a time whose name is a number.
bool is_time(const std::string& name) {
  static const std::regex number(R"(-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?)");
  return std::regex_match(name, number);
}

double value_of(const std::string& time) { return std::strtod(time.c_str(), nullptr); }

std::string without_suffix(const std::string& name) {
  return name.ends_with(kPartial) ? name.substr(0, name.size() - kPartial.size()) : std::string();
}

// Returns true for a link of another user but root, which may lead to files that are none of his.
bool is_link_of_another(const fs::directory_entry& entry) {
  struct stat found {};
  const bool is_known = lstat(entry.path().c_str(), &found) == 0;
  return is_known && S_ISLNK(found.st_mode) && found.st_uid != geteuid() && found.st_uid != 0;
}

// Cases may have links to times and processors on other storages.
Names directories_in(const fs::path& folder) {
  Names names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && !is_link_of_another(entry)) names.insert(entry.path().filename().string());
  }
  return names;
}

// Returns the folders of the processes: processor0, processor1, … up to the first that is missing.
std::vector<fs::path> processors(const fs::path& directory) {
  const Names names = directories_in(directory);
  std::vector<fs::path> found;
  while (names.contains(fmt::format("processor{}", found.size()))) {
    found.push_back(directory / fmt::format("processor{}", found.size()));
  }
  return found;
}

// The times in a folder: those that have their names, and those that have not, without the suffix.
struct Times {
  explicit Times(const fs::path& folder) {
    for (const std::string& name : directories_in(folder)) {
      if (is_time(name)) whole.insert(name);
      if (is_time(without_suffix(name))) partial.insert(without_suffix(name));
    }
  }
  Names whole;
  Names partial;
};

// Returns the unfinished files of the times that have their names.
std::vector<fs::path> partial_files(const fs::path& folder, const Names& times) {
  constexpr auto skipping = fs::directory_options::skip_permission_denied;
  std::vector<fs::path> found;
  for (const std::string& time : times) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder / time, skipping)) {
      const bool is_file = entry.is_regular_file() && !entry.is_symlink();
      if (is_file && entry.path().filename().string().ends_with(kPartial)) found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Locks on folders: while this lives, no program can begin to write times to them. A program that does has a shared
// lock on its folder.
class Locks {
 public:
  explicit Locks(const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
      held_.emplace_back(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      const bool opened = held_.back().get() >= 0;
      if (!opened) throw fs::filesystem_error("open", folder, std::error_code(errno, std::generic_category()));
      if (flock(held_.back().get(), LOCK_EX | LOCK_NB) == 0) continue;
      const bool taken = errno == EWOULDBLOCK;
      if (!taken) throw fs::filesystem_error("lock", folder, std::error_code(errno, std::generic_category()));
      alone_ = false;
    }
  }
  // Returns true if no program is writing to any of the folders.
  bool alone() const { return alone_; }

 private:
  std::vector<FileDescriptor> held_;
  bool alone_ = true;
};

class Case {
 public:
  Case(fs::path directory, const Remove& remove, const TellRemoval& tell)
      : directory_(std::move(directory)), remove_(remove), tell_(tell), processors_(processors(directory_)) {
    folders_.push_back(directory_);
    folders_.insert(folders_.end(), processors_.begin(), processors_.end());
  }

  std::vector<LeftInCase> left() {
    const Locks locks(folders_);
    alone_ = locks.alone();
    for (const fs::path& folder : folders_) times_.emplace(folder, folder);
    const std::vector<LeftInCase> lonely = lonely_parts();
    const auto parts = parts_of_unfinished();
    std::vector<LeftInCase> found;
    for (const fs::path& folder : folders_) {
      for (const std::string& name : times_.at(folder).partial) {
        found.push_back(treat(folder / (name + std::string(kPartial))));
      }
    }
    for (const auto& [part, unfinished] : parts) found.push_back(treat(part, unfinished));
    for (const fs::path& folder : folders_) {
      const Names times = Times(folder).whole;  // as they are now
      for (const fs::path& file : partial_files(folder, times)) found.push_back(treat(file));
    }
    for (const LeftInCase& one : lonely) {
      const auto is_it = [&](const auto& part) { return name_of(part.first) == one.path; };
      if (std::none_of(parts.begin(), parts.end(), is_it)) found.push_back(one);
    }
    return found;
  }

 private:
  std::string name_of(const fs::path& path) const { return path.lexically_relative(directory_).string(); }

  LeftInCase treat(const fs::path& path, const std::string& unfinished = {}) const {
    const std::string name = name_of(path);
    if (!alone_) return {name, left_in_case::kInUse, false, "left alone: a program is writing to the case"};
    std::error_code error;
    const bool is_time = fs::is_directory(path, error);
    LeftInCase one{name, is_time ? left_in_case::kTime : left_in_case::kFile};
    if (!remove_) return one;
    fs::path removed = path;
    if (!unfinished.empty()) {
      // It loses its name first: half of it must not look like a time.
      tell_(path, unfinished);
      removed += kPartial;
      fs::rename(path, removed, error);
    }
    if (!error) remove_(removed, error);
    one.done = !error;
    if (error) one.failure = fmt::format("{}: {}", removed.string(), error.message());
    return one;
  }

  // Returns the parts of times that another process had not completed, each with the name of its folder.
  std::vector<std::pair<fs::path, std::string>> parts_of_unfinished() const {
    std::map<std::string, std::string> unfinished;
    for (const fs::path& folder : processors_) {
      for (const std::string& name : times_.at(folder).partial) {
        if (!times_.at(folder).whole.contains(name)) unfinished[name] = folder.filename().string();
      }
    }
    std::vector<std::pair<fs::path, std::string>> found;
    for (const fs::path& folder : processors_) {
      for (const auto& [name, by] : unfinished) {
        if (times_.at(folder).whole.contains(name)) found.emplace_back(folder / name, by);
      }
    }
    return found;
  }

  // Returns the latest of the times of which all parts are there. If there is none, the folders are not those of one
  // run.
  std::optional<double> latest_complete() const {
    std::optional<double> latest;
    if (processors_.empty()) return latest;
    for (const std::string& name : times_.at(processors_[0]).whole) {
      const auto has = [&](const fs::path& folder) { return times_.at(folder).whole.contains(name); };
      if (!std::all_of(processors_.begin(), processors_.end(), has)) continue;
      latest = std::max(latest.value_or(value_of(name)), value_of(name));
    }
    return latest;
  }

  // Returns the parts of times behind the latest complete one.
  std::vector<LeftInCase> lonely_parts() const {
    std::vector<LeftInCase> found;
    const std::optional<double> latest = latest_complete();
    if (!latest) return found;
    for (const fs::path& folder : processors_) {
      const Names& whole = times_.at(folder).whole;
      std::vector<std::string> names(whole.begin(), whole.end());
      std::stable_sort(names.begin(), names.end(),
                       [](const auto& a, const auto& b) { return value_of(a) < value_of(b); });
      for (const std::string& name : names) {
        if (value_of(name) <= *latest) continue;
        const auto lacking = std::find_if(processors_.begin(), processors_.end(), [&](const fs::path& each) {
          return !times_.at(each).whole.contains(name);
        });
        // None lacks the same name if two of them are one number, such as 1 and 1.0.
        if (lacking == processors_.end()) continue;
        found.push_back({name_of(folder / name), left_in_case::kPart, false,
                         fmt::format("left alone: {} lacks this time", lacking->filename().string())});
      }
    }
    return found;
  }

  const fs::path directory_;
  const Remove& remove_;
  const TellRemoval& tell_;
  const std::vector<fs::path> processors_;
  std::vector<fs::path> folders_;  // all that may hold times
  std::map<fs::path, Times> times_;
  bool alone_ = false;
};

}  // namespace

bool is_openfoam_case(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_regular_file(directory / "system/controlDict", ignored);
}

std::vector<LeftInCase> left_in_openfoam_case(const fs::path& directory, const Remove& remove,
                                              const TellRemoval& tell) {
  return Case(directory, remove, tell).left();
}

}  // namespace tailrace::impl
