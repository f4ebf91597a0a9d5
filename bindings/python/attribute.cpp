#include "attribute.hpp"

#include <nanobind/stl/string.h>

#include "failure.hpp"

namespace nb = nanobind;

namespace tailrace_python {

AttributeOfPython::AttributeOfPython(const std::string& name, nb::handle value) {
  if (nb::isinstance<nb::str>(value)) {
    texts_.push_back(nb::cast<std::string>(value));
  } else {
    take_array(name, value);
  }
  for (const std::string& text : texts_) pointers_.push_back(c_text(text));
  if (!texts_.empty()) count_ = texts_.size();
}

void AttributeOfPython::take_array(const std::string& name, nb::handle value) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(value);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const bool whole = kind == "b" || kind == "i" || kind == "u";
  const bool flat = nb::cast<int>(array.attr("ndim")) <= 1;
  if (!flat || (!whole && kind != "f" && kind != "U")) {
    const std::string message = "attribute '" + name +
                                "': expected a text, a number, or a sequence of either, found " +
                                nb::cast<std::string>(nb::repr(value)).substr(0, 80);
    throw nb::type_error(message.c_str());
  }
  const nb::object list = array.attr("ravel")();
  if (kind == "U") {
    for (const nb::handle text : list) texts_.push_back(nb::cast<std::string>(nb::str(text)));
    return;
  }
  type_ = whole ? TAILRACE_INT64 : TAILRACE_FLOAT64;
  count_ = nb::len(list);
  // Through Python's integers, which report one of more than 64 bits.
  for (const nb::handle one : list) {
    union {
      int64_t whole;
      double real;
      std::byte bytes[8];
    } number{};
    if (whole) {
      number.whole = PyLong_AsLongLong(nb::object(one.attr("item")()).ptr());
    } else {
      number.real = PyFloat_AsDouble(one.ptr());
    }
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    numbers_.insert(numbers_.end(), number.bytes, number.bytes + sizeof number.bytes);
  }
  static constexpr std::byte kNone{};
  data_ = numbers_.empty() ? &kNone : numbers_.data();
}

}  // namespace tailrace_python
