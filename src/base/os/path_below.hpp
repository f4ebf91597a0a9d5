// check_below: checks that a path from another program stays below a directory, in the present file system.
//
// For names that come from a program or from another process. It checks each component of the path, and follows no
// symbolic link.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

// `relative` contains no "." and no "..". Returns ok if it leads from the directory `root`, through directories only,
// to a regular file, or to no file in an existing directory. Returns TAILRACE_INVALID_ARGUMENT for symbolic links and
// for files that are not regular, and the system's error if a component cannot be checked.
Status check_below(const std::string& root, const std::string& relative);

}  // namespace tailrace::impl
