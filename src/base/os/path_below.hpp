// Checks, opens and removes names below a directory, in the present file system.
//
// For names that come from a program or from another process. The directory itself is the user's choice, and may be
// reached through symbolic links; below it none is followed, at no moment: each component is looked up in the open
// directory before it. `relative` contains no "." and no "..".
#pragma once

#include <string>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Returns ok if `relative` leads from the directory `root`, through directories only, to a regular file, or to no
// file in an existing directory. Returns TAILRACE_INVALID_ARGUMENT for symbolic links and
// for files that are not regular, and the system's error if a component cannot be checked.
Status check_below(const std::string& root, const std::string& relative);

// Opens the file with `flags` of open(2), and mode 0666 less the umask. Fails as check_below does.
Result<FileDescriptor> open_below(const std::string& root, const std::string& relative, int flags);

// Removes the name. Fails as check_below does for the directories on the way.
Status remove_below(const std::string& root, const std::string& relative);

}  // namespace tailrace::impl
