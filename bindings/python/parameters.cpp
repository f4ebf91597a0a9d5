#include "parameters.hpp"

#include "failure.hpp"
#include "integer.hpp"

namespace nb = nanobind;

namespace tailrace_python {

GivenParameters::GivenParameters(const char* call, const std::vector<std::pair<std::string, nb::object>>& given) {
  for (const auto& [name, value] : given) {
    const bool real = PyIndex_Check(value.ptr()) == 0 && nb::hasattr(value, "__float__");
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
