// Where tailrace-plugin-host lies.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

// The program beside `program` (the path of the running server), where it is installed seen from there, or where a
// build puts it. Fails with TAILRACE_NOT_FOUND, naming all places looked at.
Result<std::string> find_plugin_host(const std::string& program);

}  // namespace tailrace::impl
