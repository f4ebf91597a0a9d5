#include "failure.hpp"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace tailrace_python {

namespace {

// Returns None for a value that does not apply, as Python expects.
nb::object unless(bool absent, auto value) { return absent ? nb::none() : nb::object(nb::cast(value)); }

}  // namespace

nb::object make_exception(const Failure& failure, const Result& result) {
  const nb::module_ errors = nb::module_::import_("tailrace._errors");
  nb::object code = nb::module_::import_("tailrace._tailrace").attr("Status")(static_cast<int>(failure.status));
  nb::dict fields;
  fields["status"] = tailrace_status_text(failure.status);
  fields["code"] = code;
  fields["operation"] = failure.operation;
  fields["file"] = failure.file;
  fields["variable"] = failure.variable;
  fields["iteration"] = unless(failure.iteration < 0, failure.iteration);
  fields["errno"] = unless(failure.system_errno == 0, failure.system_errno);
  fields["earlier"] = failure.earlier;
  fields["more"] = failure.more;
  if (failure.earlier) fields[result.name] = nb::borrow(result.value);
  return errors.attr("of")(failure.message, **fields);
}

void raise(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

void raise(const Failure& failure, const Result& result) { raise(make_exception(failure, result)); }

void raise_all(tailrace_client* client, tailrace_status status) {
  const Failure failure = tailrace::detail::failure_of_close(client, status);
  const nb::object first = make_exception(failure);
  nb::list others;
  for (const Failure& other : failure.others) others.append(make_exception(other));
  first.attr("others") = nb::tuple(others);
  raise(first);
}

void check(tailrace_client* client, tailrace_status status, nb::handle array) {
  if (status != TAILRACE_OK) raise(last_failure(client, status), {"array", array});
}

bool accepted(tailrace_client* client, tailrace_status status) {
  if (status == TAILRACE_DROPPED) return false;
  check(client, status);
  return true;
}

const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) throw nb::value_error("embedded null character");
  return text.c_str();
}

}  // namespace tailrace_python
