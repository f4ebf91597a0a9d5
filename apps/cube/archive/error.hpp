// Error: everything that is wrong with a profile, a specification or an output. Its text names the file, the member
// or the metric, and says what was found and what was expected.
#pragma once

#include <stdexcept>

namespace tailrace::cube {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tailrace::cube
