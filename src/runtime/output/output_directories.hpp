// The directories of a client's files, and its name in each: taken at open, given back at close.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/status.hpp"
#include "model/config.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Creates the output directories that do not exist.
Status make_output_directories(const Config& config, FileSystem& files);

// Creates the directories, and locks the name of the writer in each: "c3" for client 3, "n0" for node 0, "job" for a
// job. Returns TAILRACE_CLIENT_IN_USE if another process holds the lock. `client`: for the names of its own files.
// The file system outlives the locks.
Result<std::vector<std::unique_ptr<NameLock>>> take_output_directories(const Config& config, FileSystem& files,
                                                                       const std::string& who, int client, Log& log);

// Returns the pattern of the files of the format plain that the holder of an open lock file writes; "" if there is
// none.
std::string pattern_in_lock(const FileSystem& files, FileHandle lock);

// Returns true if the name is that of an unfinished file of this pattern, or of the XDMF file beside one.
bool is_part_of(std::string_view pattern, std::string_view name);

}  // namespace tailrace::impl
