// The time, the run and the machine that files and logs name, and the level of logs.
#pragma once

#include <string>

#include "base/log.hpp"

namespace tailrace::impl {

// "2026-11-21 21:00:00 +0000", now.
std::string date_now();
// A number for a run that no other has: a UUID of version 4, as text.
std::string new_run();
// The host's name.
std::string machine_name();
// "info", "warning", "error", "off".
LogLevel log_level_of(const std::string& name);

}  // namespace tailrace::impl
