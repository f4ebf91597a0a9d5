// The time, the run and the machine that files and logs name, and the level of logs.
#pragma once

#include <string>

#include "base/log.hpp"

namespace tailrace::impl {

// Returns the present time: "2026-11-21 21:00:00 +0000".
std::string date_now();
// Returns a new, unique number for a run: a UUID of version 4, as text.
std::string new_run();
// Returns the host's name.
std::string machine_name();
// Returns the level that "info", "warning", "error" or "off" names.
LogLevel log_level_of(const std::string& name);

}  // namespace tailrace::impl
