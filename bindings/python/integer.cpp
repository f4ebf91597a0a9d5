#include "integer.hpp"

#include <nanobind/stl/string.h>

#include "failure.hpp"

namespace nb = nanobind;

namespace tailrace_python {

namespace {

// Returns the value for a message, without all the digits of a very long number.
std::string shown(nb::handle value) {
  constexpr size_t kMost = 60;
  PyObject* const text = PyObject_Repr(value.ptr());
  if (text == nullptr) PyErr_Clear();  // the number has thousands of digits
  std::string shown = text == nullptr ? "a very large number" : nb::cast<std::string>(nb::steal(text));
  if (shown.size() > kMost) shown = shown.substr(0, kMost) + "…";
  return shown;
}

[[noreturn]] void refuse_type(const std::string& what, nb::handle found) {
  const std::string kind = nb::cast<std::string>(found.type().attr("__name__"));
  throw nb::type_error((what + "expected an integer, found " + shown(found) + " (" + kind + ")").c_str());
}

[[noreturn]] void refuse_range(const char* call, const std::string& what, nb::handle found, int64_t least,
                               int64_t most) {
  Failure failure;
  failure.status = TAILRACE_INVALID_ARGUMENT;
  failure.operation = call;
  failure.message = what + "expected an integer from " + std::to_string(least) + " to " + std::to_string(most) +
                    ", found " + shown(found);
  raise(failure);
}

}  // namespace

int64_t Integer::value(const char* call, const std::string& name, int64_t least, int64_t most) const {
  const std::string what = std::string(call) + ": " + name + ": ";
  const nb::object number = nb::steal(PyNumber_Index(given_.ptr()));
  if (!number.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    refuse_type(what, given_);
  }
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || value < least || value > most) refuse_range(call, what, number, least, most);
  return value;
}

}  // namespace tailrace_python
