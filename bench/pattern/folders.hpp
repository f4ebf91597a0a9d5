// OutputFolders: where the files of one run go; a new folder in each directory that the user named.
//
// The folders are its own, so taking them away takes away nothing of anybody else's. They go when it goes, on
// every way out of the run, unless the user keeps them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

class OutputFolders {
 public:
  // Makes the directories if they are missing. Throws RunError with the directory and the reason.
  OutputFolders(const std::vector<std::string>& directories, bool keep);
  OutputFolders(const OutputFolders&) = delete;
  OutputFolders& operator=(const OutputFolders&) = delete;
  ~OutputFolders();

  size_t count() const { return folders_.size(); }
  const std::vector<std::filesystem::path>& all() const { return folders_; }
  // Iterations go to the folders in turn.
  std::string file(int iteration) const;

  // Waits until what others have left in the page cache of these file systems is written.
  void settle() const;
  // Returns true if files here can bypass the page cache.
  bool can_bypass_cache() const;

 private:
  void add(const std::string& directory);
  void remove() noexcept;

  const bool keep_;
  std::vector<std::filesystem::path> folders_;
  std::vector<std::filesystem::path> made_;  // directories that were missing, outermost first
};

}  // namespace bench
