// The name that an output has until it is complete, and the file of that name.
//
// tailrace chooses the name, in a directory where others may create files: they may have put a link there, to a file
// that this user may write.
#pragma once

#include <string>

namespace tailrace::cube {

std::string partial_name(const std::string& path);

// Creates the file, empty, and returns its descriptor, for writing. What an earlier run has left is removed. Throws
// Error if something else has the name than a regular file of this user.
int create_partial(const std::string& path);

}  // namespace tailrace::cube
