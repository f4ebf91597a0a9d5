// FileKey: a file, whatever its names are; or, where it is not known which file, all of them.
#pragma once

#include <cstdint>

namespace tailrace::mpiio {

struct FileKey {
  uint64_t device = 0;
  uint64_t inode = 0;

  bool operator==(const FileKey&) const = default;
  // Returns true if it stands for all files: no file has the number 0.
  bool is_unknown() const { return inode == 0; }
  // Returns true if what concerns `file` concerns this one, too.
  bool concerns(const FileKey& file) const { return is_unknown() || *this == file; }
};

}  // namespace tailrace::mpiio
