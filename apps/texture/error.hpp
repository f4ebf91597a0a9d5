// Error: a fault of the world or the user, as one sentence that names its cause.
//
// All code of this application that reads input or writes output throws it. main.cpp catches it once, prints it and
// ends all ranks.
#pragma once

#include <stdexcept>
#include <string>

namespace texture {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace texture
