// FileKey: a file, whatever its names are; or, where it is not known which file, all of them.
#pragma once

#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <string>

namespace tailrace::process {

struct FileKey {
  uint64_t device = 0;
  uint64_t inode = 0;

  // Return the file that has that name, or is open by that descriptor; an unknown one if there is none.
  static FileKey of(const std::string& name) {
    struct stat found {};
    return ::stat(name.c_str(), &found) == 0 ? of(found) : FileKey();
  }
  static FileKey of(int descriptor) {
    struct stat found {};
    return ::fstat(descriptor, &found) == 0 ? of(found) : FileKey();
  }
  static FileKey of(const struct stat& found) { return {found.st_dev, found.st_ino}; }

  auto operator<=>(const FileKey&) const = default;
  // Returns true if it stands for all files: no file has the number 0.
  bool is_unknown() const { return inode == 0; }
  // Returns true if it is known, and is `file`.
  bool is(const FileKey& file) const { return !is_unknown() && *this == file; }
  // Returns true if what concerns `file` concerns this one, too.
  bool concerns(const FileKey& file) const { return is_unknown() || *this == file; }
};

}  // namespace tailrace::process
