// forward_view: describes as JSON what a forwarder does, for `tailrace inspect --forward`.
#pragma once

#include <string>

#include "forward/forwarder.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// `age`: the time since the forwarder began. docs/forwarding.md has the members.
std::string forward_view(const Config& config, const Forwarder::View& view, Nanoseconds age);

}  // namespace tailrace::impl
