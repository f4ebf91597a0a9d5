// A leftover: the unfinished file of an iteration, which a run that ended too early has left.
//
// A `.part` that is whole (its superblock, written last, is there) only lacks its rename; any other lacks bytes. What
// is no regular file of this user is reported and left (base/os/own_file.hpp).
#pragma once

#include <string>

#include "base/status.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

struct Leftover {
  std::string file;
  tailrace_leftover kind = TAILRACE_INCOMPLETE;
  bool done = false;  // finished or removed
  Status status;      // why it could not be
};

// Finishes or removes one unfinished file in `directory`; with `apply` false it only looks. Nobody writes the file.
Leftover treat_part(FileSystem& files, const std::string& file, const std::string& directory, bool apply);

}  // namespace tailrace::impl
