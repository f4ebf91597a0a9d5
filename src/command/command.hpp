// The command `tailrace` without Python: runs the commands that need none (commands.hpp), and hands all others to the
// command of the Python package, where that is installed.
#pragma once

namespace tailrace::impl {

// Runs the command line; returns the exit code.
int run_command(int argc, char** argv);

}  // namespace tailrace::impl
