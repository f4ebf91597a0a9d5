// StagedDirectories: time directories that do not have their names yet. Names only; touches no files.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tailrace::openfoam {

// Returns true if `path` is `directory`, or lies in it. Both are absolute and normal.
inline bool lies_in(const std::string& path, const std::string& directory) {
  if (directory == "/") return true;
  return path.size() >= directory.size() && path.compare(0, directory.size(), directory) == 0 &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

class StagedDirectories {
 public:
  // Returns the name of a staged directory until it is published.
  static std::string partial(const std::string& directory) { return directory + ".partial"; }

  void add(const std::string& directory) { all_[directory]; }
  bool empty() const { return all_.empty(); }
  bool contains(const std::string& directory) const { return all_.contains(directory); }
  // Returns the staged directory in which the path lies.
  std::optional<std::string> around(const std::string& path) const {
    for (const auto& [directory, contents] : all_) {
      if (lies_in(path, directory)) return directory;
    }
    return std::nullopt;
  }

  // A directory is not published while files in it are being written.
  void begin_file(const std::string& directory, const std::string& path) {
    Contents& contents = all_.at(directory);
    ++contents.open;
    contents.files.insert(path);
  }
  void end_file(const std::string& directory) { --all_.at(directory).open; }

  // Returns true if the program would find something at `path` that is staged, or below it if `below`.
  bool concerns(const std::string& path, bool below) const {
    for (const auto& [directory, contents] : all_) {
      if (below && lies_in(directory, path)) return true;
      if (!lies_in(path, directory)) continue;
      const auto lies_there = [&](const std::string& file) { return lies_in(file, path) || file == path + ".gz"; };
      if (std::any_of(contents.files.begin(), contents.files.end(), lies_there)) return true;
    }
    return false;
  }

  // Removes the directories without open files for which `which` returns true, and returns them.
  template <typename Which>
  std::vector<std::string> take(Which which) {
    std::vector<std::string> taken;
    for (auto at = all_.begin(); at != all_.end();) {
      const bool takes = at->second.open == 0 && which(at->first);
      if (takes) taken.push_back(at->first);
      at = takes ? all_.erase(at) : std::next(at);
    }
    return taken;
  }

 private:
  struct Contents {
    int open = 0;                 // files
    std::set<std::string> files;  // begun so far
  };

  std::map<std::string, Contents> all_;  // by the directory's name
};

}  // namespace tailrace::openfoam
