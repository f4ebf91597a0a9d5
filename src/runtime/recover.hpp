// recover: publishes or removes what a crash left in a directory (promise 3).
//
// It never touches files of open clients: it takes a client's lock before it looks at its files.
#pragma once

#include <functional>
#include <string>

#include "base/status.hpp"
#include "runtime/output/leftover.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Calls `each` for every leftover in `directory` of `files`, in the order of their names. With `apply`, publishes
// whole files (after a sync), and removes incomplete ones and stale locks. Leaves files alone whose data wait in
// shared memory (place `core`): a server that drains it completes them.
Status recover(FileSystem& files, const std::string& directory, bool apply,
               const std::function<void(const Leftover&)>& each);
// The variant for the operating system's files.
Status recover(const std::string& directory, bool apply, const std::function<void(const Leftover&)>& each);

}  // namespace tailrace::impl
