#include "parameters.hpp"

#include <nanobind/stl/string.h>

#include "failure.hpp"
#include "integer.hpp"

namespace nb = nanobind;

namespace tailrace_python {

GivenParameters::GivenParameters(const char* call, const std::vector<std::pair<std::string, nb::object>>& given) {
  for (const auto& [name, value] : given) {
    const bool real = PyIndex_Check(value.ptr()) == 0 && nb::hasattr(value, "__float__");
    if (!real && PyIndex_Check(value.ptr()) == 0) {
      const std::string message = std::string(call) + ": " + name + ": expected a number, found " +
                                  nb::cast<std::string>(nb::repr(value)) + " (" +
                                  nb::cast<std::string>(value.type().attr("__name__")) + ")";
      throw nb::type_error(message.c_str());
    }
    if (!real) {
      wholes.push_back({c_text(name), Integer(value).value(call, name)});
      continue;
    }
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    reals.push_back({c_text(name), number});
  }
}

}  // namespace tailrace_python
