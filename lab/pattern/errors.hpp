// The two errors that end the pattern program, and a helper for errors of the operating system.
//
// Only main.cpp catches them, and turns them into one line on stderr and an exit code.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace bench {

// The command line asks for something that does not exist or does not go together: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The run failed: exit code 1.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws "cannot <what>: <text of `error`>" unless `good`. `error` is read before the text is built.
inline void require(bool good, const std::string& what, int error = errno) {
  if (!good) throw RunError("cannot " + what + ": " + std::generic_category().message(error));
}

}  // namespace bench
