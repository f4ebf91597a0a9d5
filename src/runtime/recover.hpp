// recover: what a crash left in a directory, finished or removed (promise 3).
//
// Files of clients that are open are never touched: recovery takes a client's lock before it looks at its files.
#pragma once

#include <functional>
#include <string>

#include "base/status.hpp"
#include "runtime/output/leftover.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Calls `each` for every leftover in `directory` of `files`, in the order of their names. With `apply`, complete
// files are published (synced first) and incomplete ones and stale locks removed. Files whose data wait in shared
// memory (place `core`) are left alone: a server that drains it finishes them.
Status recover(FileSystem& files, const std::string& directory, bool apply,
               const std::function<void(const Leftover&)>& each);
// In the operating system's files.
Status recover(const std::string& directory, bool apply, const std::function<void(const Leftover&)>& each);

}  // namespace tailrace::impl
