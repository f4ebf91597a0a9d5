#include "array.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <bit>
#include <cstring>
#include <optional>

#include "failure.hpp"

namespace nb = nanobind;

namespace tailrace_python {

namespace {

std::string text_of(nb::handle value) { return nb::cast<std::string>(nb::str(value)); }

std::string class_name(nb::handle value) { return nb::cast<std::string>(value.type().attr("__name__")); }

[[noreturn]] void refuse(nb::handle found) {
  const std::string message = "expected a NumPy array (or another array that has the buffer protocol), found " +
                              class_name(found) + "; numpy.asarray() makes an array of it";
  throw nb::type_error(message.c_str());
}

// Returns the element type, or nothing for one that no variable can have (long complex, structures, foreign byte
// order).
std::optional<tailrace_type> element_type(const Py_buffer& view) {
  const char* format = view.format ? view.format : "B";
  const char native = std::endian::native == std::endian::little ? '<' : '>';
  if (*format == '@' || *format == '=' || *format == native) ++format;
  if (std::strcmp(format, "Zf") == 0) return TAILRACE_COMPLEX64;
  if (std::strcmp(format, "Zd") == 0) return TAILRACE_COMPLEX128;
  if (std::strlen(format) != 1) return {};
  const auto sized = [&](tailrace_type one, tailrace_type two, tailrace_type four,
                         tailrace_type eight) -> std::optional<tailrace_type> {
    switch (view.itemsize) {
      case 1: return one;
      case 2: return two;
      case 4: return four;
      case 8: return eight;
      default: return {};
    }
  };
  if (std::strchr("bhilqn", *format)) return sized(TAILRACE_INT8, TAILRACE_INT16, TAILRACE_INT32, TAILRACE_INT64);
  if (std::strchr("BHILQN", *format)) return sized(TAILRACE_UINT8, TAILRACE_UINT16, TAILRACE_UINT32, TAILRACE_UINT64);
  if (*format == 'f') return TAILRACE_FLOAT32;
  if (*format == 'd') return TAILRACE_FLOAT64;
  if (*format == 'g') return TAILRACE_LONG_DOUBLE;
  if (*format == '?') return TAILRACE_BOOL;
  if (*format == 'e') return TAILRACE_FLOAT16;
  return {};
}

nb::tuple shape_of(const tailrace_variable_info& info) {
  nb::list shape;
  for (int i = 0; i < info.rank; ++i) shape.append(info.shape[i]);
  return nb::tuple(shape);
}

// Raises a failure that the C interface cannot find itself, since it concerns a Python array.
[[noreturn]] void raise_about(tailrace_status status, const char* operation, const std::string& variable,
                              const std::string& message) {
  Failure failure;
  failure.status = status;
  failure.operation = operation;
  failure.variable = variable;
  failure.message = std::string(operation) + ": variable \"" + variable + "\": " + message;
  raise(failure);
}

}  // namespace

Buffer::Buffer(nb::handle array, Use use) {
  // NumPy's scalars have the buffer protocol, too, but no memory that belongs to the caller.
  if (!PyObject_CheckBuffer(array.ptr()) || nb::isinstance(array, nb::module_::import_("numpy").attr("generic"))) {
    refuse(array);
  }
  if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();  // objects and dates, which are not numbers
    if (!nb::hasattr(array, "dtype")) refuse(array);
    const std::string message = "expected an array of numbers, found dtype " + text_of(array.attr("dtype"));
    throw nb::type_error(message.c_str());
  }
  dtype_ = nb::hasattr(array, "dtype") ? text_of(array.attr("dtype")) : view_.format ? view_.format : "B";
  if (use == Use::write && view_.readonly) {
    release();
    throw nb::type_error("expected an array that can be written to, found a read-only one");
  }
}

void Buffer::release() {
  if (view_.obj) PyBuffer_Release(&view_);
}

bool Buffer::contiguous() const { return PyBuffer_IsContiguous(&view_, 'C') != 0; }

void Buffer::expect(tailrace_client* client, const char* operation, const std::string& variable) const {
  const std::optional<tailrace_type> type = element_type(view_);
  if (!type) {
    tailrace_variable_info info{};
    info.struct_size = sizeof info;
    check(client, tailrace_variable(client, c_text(variable), &info));
    raise_about(TAILRACE_WRONG_TYPE, operation, variable,
                "expected " + std::string(dtype_of(info.type)) + ", found dtype " + dtype_);
  }
  uint64_t shape[PyBUF_MAX_NDIM] = {};
  for (int i = 0; i < view_.ndim; ++i) shape[i] = static_cast<uint64_t>(view_.shape[i]);
  check(client, tailrace_expect(client, c_text(variable), *type, view_.ndim, shape));
  if (!contiguous()) {
    raise_about(TAILRACE_INVALID_ARGUMENT, operation, variable,
                "expected a C-contiguous array, found one with gaps or another order of its dimensions; "
                "numpy.ascontiguousarray() makes a copy that fits");
  }
}

nb::object in_host_memory(nb::handle array, nb::handle fill_value) {
  if (fill_value.is_none() && array.type().is(nb::module_::import_("numpy").attr("ndarray")))
    return nb::borrow(array);
  return nb::module_::import_("tailrace._arrays").attr("in_host_memory")(array, fill_value);
}

const char* dtype_of(tailrace_type type) {
  switch (type) {
    case TAILRACE_INT8: return "int8";
    case TAILRACE_INT16: return "int16";
    case TAILRACE_INT32: return "int32";
    case TAILRACE_INT64: return "int64";
    case TAILRACE_UINT8: return "uint8";
    case TAILRACE_UINT16: return "uint16";
    case TAILRACE_UINT32: return "uint32";
    case TAILRACE_UINT64: return "uint64";
    case TAILRACE_FLOAT32: return "float32";
    case TAILRACE_FLOAT64: return "float64";
    case TAILRACE_LONG_DOUBLE: return "longdouble";
    case TAILRACE_BOOL: return "bool";
    case TAILRACE_FLOAT16: return "float16";
    case TAILRACE_COMPLEX64: return "complex64";
    case TAILRACE_COMPLEX128: return "complex128";
    case TAILRACE_TEXT: break;
  }
  return "an unknown type";
}

nb::object empty_array(const tailrace_variable_info& info) {
  return nb::module_::import_("numpy").attr("empty")(shape_of(info), dtype_of(info.type));
}

nb::object array_over(void* data, const tailrace_variable_info& info, nb::handle owner) {
  // Make an array of bytes first, since DLPack, which nanobind uses, has no long double.
  const size_t bytes[1] = {static_cast<size_t>(info.bytes)};
  const nb::object flat = nb::cast(nb::ndarray<nb::numpy, uint8_t>(data, 1, bytes, owner), nb::rv_policy::reference);
  return flat.attr("view")(dtype_of(info.type)).attr("reshape")(shape_of(info));
}

}  // namespace tailrace_python
