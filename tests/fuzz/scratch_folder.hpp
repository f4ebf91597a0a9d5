// A folder of this process alone, in memory if possible; removed at a normal end of the process.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/assert.hpp"

namespace tailrace::fuzz {

inline const std::string& scratch_folder() {
  struct Folder {
    Folder() : path(std::filesystem::exists("/dev/shm") ? "/dev/shm/tailrace_fuzz_XXXXXX" : "tailrace_fuzz_XXXXXX") {
      TAILRACE_REQUIRE(mkdtemp(path.data()) != nullptr);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::string path;
  };
  static const Folder folder;
  return folder.path;
}

}  // namespace tailrace::fuzz
