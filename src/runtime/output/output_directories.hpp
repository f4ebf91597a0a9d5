// The directories that a client's files go to, and its name in each: taken at open, given back at close.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/status.hpp"
#include "model/config.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Makes the output directories where they are missing.
Status make_output_directories(const Config& config, FileSystem& files);

// Makes the directories, and locks the name of the writer in each, "c3" for client 3, "n0" for node 0, "job" for a
// job: TAILRACE_CLIENT_IN_USE if somebody holds it.
Result<std::vector<std::unique_ptr<NameLock>>> take_output_directories(const Config& config, FileSystem& files,
                                                                       const std::string& who, Log& log);

}  // namespace tailrace::impl
