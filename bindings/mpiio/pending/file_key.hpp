// FileKey: a file, whatever its names are.
#pragma once

#include <cstdint>

namespace tailrace::mpiio {

struct FileKey {
  uint64_t device = 0;
  uint64_t inode = 0;

  bool operator==(const FileKey&) const = default;
};

}  // namespace tailrace::mpiio
