// recover: what a crash left in a directory, finished or removed (promise 3).
//
// A `.part` that is whole (its superblock, written last, is there) only lacks its rename; any other lacks bytes.
// Files of clients that are open are never touched: recovery takes a client's lock before it looks at its files. What
// is no regular file of this user is told and left (base/os/own_file.hpp).
#pragma once

#include <functional>
#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

struct Leftover {
  std::string file;
  tailrace_leftover kind = TAILRACE_INCOMPLETE;
  bool done = false;  // finished or removed
  Status status;      // why it could not be
};

// Finishes or removes one unfinished file in `directory`; with `apply` false it only looks. Nobody writes the file.
Leftover treat_part(const std::string& file, const std::string& directory, bool apply);

// Calls `each` for every leftover in `directory`, in the order of their names. With `apply`, complete files are
// published (synced first) and incomplete ones and stale locks removed. Files whose data wait in shared memory (place
// `core`) are left alone: a server that drains it finishes them.
Status recover(const std::string& directory, bool apply, const std::function<void(const Leftover&)>& each);

}  // namespace tailrace::impl
