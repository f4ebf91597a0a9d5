// The part of `tailrace inspect` that shows what a running forwarder does: its clients, data servers and memory.
#pragma once

#include <string>

namespace tailrace::impl {

// Asks the forwarder at HOST:PORT, and prints its answer; returns the exit code.
int inspect_forwarder(const std::string& address, const std::string& key, bool as_json);

}  // namespace tailrace::impl
