// Turns this process into another program: the server of a node, or the command `tailrace` of the Python package.
#pragma once

#include <string>
#include <vector>

namespace tailrace::impl {

// Becomes the program of this path, so that a batch system's signals reach it itself. Returns an exit code if that
// fails, after an error.
int become(const std::string& program, const std::vector<std::string>& arguments);

// Hands the words of a command line to a script named `tailrace` on PATH, which pip or a package manager has put
// there, or to `python3` with the package. Returns an exit code if there is neither, after an error that says how to
// install the package.
int hand_to_python(const std::vector<std::string>& words);

}  // namespace tailrace::impl
