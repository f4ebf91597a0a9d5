// GivenParameters: parameters of the configuration as Python gives them, as those of C: integers and real numbers.
#pragma once

#include <nanobind/nanobind.h>
#include <tailrace/tailrace.h>

#include <string>
#include <utility>
#include <vector>

namespace tailrace_python {

class GivenParameters {
 public:
  // Raises TypeError if a value is no number, and tailrace.Error (INVALID_ARGUMENT) for an integer of more than 64
  // bits. `call` is for the message. Borrows the names.
  GivenParameters(const char* call, const std::vector<std::pair<std::string, nanobind::object>>& given);

  std::vector<tailrace_parameter> wholes;
  std::vector<tailrace_real_parameter> reals;
};

}  // namespace tailrace_python
