// check_below: whether a path that somebody else has chosen stays below a directory, as the file system is now.
//
// For names that come from a program, or from another process: the words of the path are looked at one by one, and no
// symbolic link is followed.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

// `relative` has no "." and no ".." in it. Ok if it leads from the directory `root` through directories alone to a
// regular file, or to nothing in a directory that is there. TAILRACE_INVALID_ARGUMENT for symbolic links and for what
// is no regular file; the system's own error for what cannot be looked at.
Status check_below(const std::string& root, const std::string& relative);

}  // namespace tailrace::impl
