// find_server_executable: finds the program of the node's server. Starts nothing.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

constexpr const char* kServerProgram = "tailrace-core";

// Returns `configured` if it is not empty, else $TAILRACE_SERVER if it is set; no other place is tried then.
// Otherwise looks beside the library or program that contains this code, in the folders of an installation around it,
// and in PATH. The path is absolute. Fails with TAILRACE_NOT_FOUND and names all places.
Result<std::string> find_server_executable(const std::string& configured);

}  // namespace tailrace::impl
