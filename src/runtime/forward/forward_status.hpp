// forward_status: asks a running forwarder what it does.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

// Returns the forwarder's JSON; see forward_view. `key`: the key file.
Result<std::string> forward_status(const std::string& address, const std::string& key);

}  // namespace tailrace::impl
