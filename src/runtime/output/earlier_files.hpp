// Files that an earlier run left where a series is about to be written, and what `storage.existing` makes of them.
//
// Looked at once, when a run begins, with the lock of the series held; never while it is being written.
#pragma once

#include <string>

#include "base/log.hpp"
#include "base/status.hpp"
#include "model/config.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Files of `series` (series_of()) in the output directories: refuse: TAILRACE_EXISTS if there are any; replace: they
// are removed; continue: they stay, unfinished ones are published if they are whole and else removed. Says in the log
// what it does. Nothing without variables. `files`: of the storage.
Status make_way(const Config& config, FileSystem& files, const std::string& series, Log& log);

}  // namespace tailrace::impl
