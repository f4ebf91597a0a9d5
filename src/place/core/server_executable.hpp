// Where the program of the node's server is. Looks for it; starts nothing.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

constexpr const char* kServerProgram = "tailrace-core";

// `configured` if it is not empty, else $TAILRACE_SERVER if it is set; one of these is the only one tried. Else
// beside the library or program that this code is in, in the folders of an installation around it, and on PATH. The
// path is absolute. Fails with TAILRACE_NOT_FOUND, naming all places.
Result<std::string> find_server_executable(const std::string& configured);

}  // namespace tailrace::impl
