// Integer: an argument that must be an integer of 64 bits, and that reports itself if it is not.
//
// nanobind would answer 1.5 and 2**63 with the signatures of the function, not with what is wrong.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace tailrace_python {

class Integer {
 public:
  Integer() = default;
  explicit Integer(nanobind::handle given) : given_(nanobind::borrow(given)) {}

  // Raises TypeError if the argument is not an integer, and tailrace.Error (INVALID_ARGUMENT) if it is out of range.
  // `call` and `name` are for the message.
  int64_t value(const char* call, const std::string& name, int64_t least = INT64_MIN, int64_t most = INT64_MAX) const;

 private:
  nanobind::object given_;
};

}  // namespace tailrace_python

namespace nanobind::detail {

// Accepts any object: Integer::value() decides.
template <>
struct type_caster<tailrace_python::Integer> {
  NB_TYPE_CASTER(tailrace_python::Integer, const_name("int"))
  bool from_python(handle given, uint8_t, cleanup_list*) noexcept {
    value = tailrace_python::Integer(given);
    return true;
  }
};

}  // namespace nanobind::detail
