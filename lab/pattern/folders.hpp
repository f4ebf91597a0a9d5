// OutputFolders: the folders for the files of one run, a new one in each directory that the user named.
//
// It owns the folders, so removing them removes no other files. It removes them at its end, on every way out of the
// run, unless the user keeps them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

class OutputFolders {
 public:
  // Creates missing directories. Throws RunError with the directory and the reason.
  OutputFolders(const std::vector<std::string>& directories, bool keep);
  OutputFolders(const OutputFolders&) = delete;
  OutputFolders& operator=(const OutputFolders&) = delete;
  ~OutputFolders();

  size_t count() const { return folders_.size(); }
  const std::vector<std::filesystem::path>& all() const { return folders_; }
  // Returns the file of an iteration; iterations use the folders in turn.
  std::string file(int iteration) const;

  // Waits until the page cache of these file systems is written, including other programs' data.
  void settle() const;
  // Returns true if files here can bypass the page cache.
  bool can_bypass_cache() const;

 private:
  void add(const std::string& directory);
  void remove() noexcept;

  const bool keep_;
  std::vector<std::filesystem::path> folders_;
  std::vector<std::filesystem::path> made_;  // directories that did not exist, outermost first
};

}  // namespace bench
