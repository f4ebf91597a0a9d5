// Leftover: the unfinished file of an iteration, which a run that ended too early has left.
//
// A `.part` that is whole (it has its superblock, which is written last) only needs its rename; any other lacks
// bytes. A name that is not a regular file of this user is reported and left alone (base/os/own_file.hpp).
#pragma once

#include <string>

#include "base/status.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

struct Leftover {
  std::string file;
  tailrace_leftover kind = TAILRACE_INCOMPLETE;
  bool done = false;  // it was published or removed
  Status status;      // why it could not be
};

// Publishes or removes one unfinished file in `directory`; if `apply` is false, only looks. REQUIRES: nobody writes
// the file.
Leftover treat_part(FileSystem& files, const std::string& file, const std::string& directory, bool apply);

}  // namespace tailrace::impl
