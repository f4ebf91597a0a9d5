// find_plugin_host: finds the program tailrace-plugin-host.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

// Looks in `folder` (that of the running server's program), in an installation around it, and where a build puts it.
// Fails with TAILRACE_NOT_FOUND and names all places it looked at.
Result<std::string> find_plugin_host(const std::string& folder);

}  // namespace tailrace::impl
