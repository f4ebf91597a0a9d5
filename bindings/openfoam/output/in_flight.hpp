// InFlight: the names of files and time directories that the program has written and may not find on disk yet. Names
// only; touches no files.
//
// Tasks of the writer have numbers, which grow. A name is in flight until the task that settles it has ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "openfoam/output/staged_directories.hpp"

namespace tailrace::openfoam {

class InFlight {
 public:
  StagedDirectories& staged() { return staged_; }

  // Files, by their names without ".gz". The task that ends a file is known when the program has ended it.
  void begin_file(const std::string& path) { files_[path] = UINT64_MAX; }
  void end_file(const std::string& path, uint64_t task) { files_[path] = task; }

  // Directories that the task gives their names.
  void publish(const std::string& directory, uint64_t task) { publishing_[directory] = task; }
  bool publishes(const std::string& directory) const { return publishing_.contains(directory); }

  // Notes that all tasks up to this one have ended.
  void ended(uint64_t task) {
    const auto has_ended = [&](const auto& each) { return each.second <= task; };
    std::erase_if(files_, has_ended);
    std::erase_if(publishing_, has_ended);
  }

  bool empty() const { return staged_.empty() && publishing_.empty() && files_.empty(); }
  // Returns true if the program would find something at `path` that is in flight, or below it if `below`.
  bool concerns(const std::string& path, bool below) const {
    if (staged_.concerns(path, below)) return true;
    const auto touches = [&](const auto& each) {
      return lies_in(path, each.first) || (below && lies_in(each.first, path));
    };
    if (std::any_of(publishing_.begin(), publishing_.end(), touches)) return true;
    if (!below) return files_.contains(without_gz(path));
    return std::any_of(files_.begin(), files_.end(), touches);
  }

  // Takes the staged directories that settling `path` concerns, unless files in them are being written.
  std::vector<std::string> take(const std::string& path, bool below) {
    return staged_.take([&](const std::string& directory) {
      return lies_in(path, directory) || (below && lies_in(directory, path));
    });
  }

 private:
  static std::string without_gz(const std::string& path) {
    return path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
  }

  StagedDirectories staged_;
  std::map<std::string, uint64_t> publishing_;  // the task, by the directory
  std::map<std::string, uint64_t> files_;       // the task, by the path
};

}  // namespace tailrace::openfoam
