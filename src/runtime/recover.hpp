// recover: what a crash left in a directory, finished or removed (promise 3).
//
// A `.part` that is whole (its superblock, written last, is there) only lacks its rename; any other lacks bytes.
// Files of clients that are open are never touched: recovery takes a client's lock before it looks at its files.
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

// Calls `each` for every leftover in `directory`, in the order of their names. With `apply`, complete files are
// published (synced first) and incomplete ones and stale locks removed.
Status recover(const std::string& directory, bool apply, const std::function<void(const Leftover&)>& each);

}  // namespace tailrace::impl
