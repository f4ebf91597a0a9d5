// Error: what the world or the user did wrong, as one sentence that names the thing.
//
// Thrown by everything in this application that reads input or writes output, caught once, in main.cpp, which prints
// it and ends with exit code 1. Never used for defects of the solver.
#pragma once

#include <stdexcept>
#include <string>

namespace tsunami {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace tsunami
