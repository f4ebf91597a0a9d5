// The directories that a client's files go to, and its name in each: taken at open, given back at close.
#pragma once

#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/os/lock_file.hpp"
#include "base/status.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// Makes the output directories where they are missing.
Status make_output_directories(const Config& config);

// Makes the directories, and locks the name of the writer in each, "c3" for client 3, "n0" for node 0, "job" for a
// job: TAILRACE_CLIENT_IN_USE if somebody holds it. Does nothing for the back end `memory`.
Result<std::vector<LockFile>> take_output_directories(const Config& config, const std::string& who, Log& log);

}  // namespace tailrace::impl
