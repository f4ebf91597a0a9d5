// `tailrace inspect` of a path: a directory with its series, measurements and jobs, or one file.
#pragma once

#include <string>

#include "command/output/output.hpp"

namespace tailrace::impl {

// Returns what is at a path. Throws Unreadable.
OrderedJson content_of(const std::string& path);
// Prints it.
void show_content(const OrderedJson& content);

}  // namespace tailrace::impl
