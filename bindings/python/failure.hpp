// failure: turns a status of the C interface into the Python exception tailrace.Error (or a class derived from it).
//
// The classes are written in Python (tailrace/_errors.py), which chooses one; this file sets their attributes.
#pragma once

#include <nanobind/nanobind.h>
#include <tailrace/tailrace.hpp>

#include <string>

namespace tailrace_python {

// The contents of an exception, and the last error of a client, as C++ has them. Call last_failure() on the thread
// that made the call, before any other call of the client.
using tailrace::detail::Failure;
using tailrace::detail::last_failure;

// Raises the failure of a close, with the others that were not reported (Error.others). Needs the GIL.
[[noreturn]] void raise_all(tailrace_client* client, tailrace_status status);

// The result of a call that was carried out, though it reports an earlier failure: an attribute of the exception.
struct Result {
  const char* name = "ticket";  // or "array"
  nanobind::handle value = nanobind::none();
};

// Returns the exception without raising it. Needs the GIL.
nanobind::object make_exception(const Failure& failure, const Result& result = {});

// Raises the exception. Needs the GIL.
[[noreturn]] void raise(const nanobind::object& exception);
[[noreturn]] void raise(const Failure& failure, const Result& result = {});

// Raises unless `status` is TAILRACE_OK. `array` is what the call returns. Needs the GIL.
void check(tailrace_client* client, tailrace_status status, nanobind::handle array = nanobind::none());

// For the verbs that may drop: returns false if the iteration was dropped. Needs the GIL.
bool accepted(tailrace_client* client, tailrace_status status);

// Returns the text as C takes it. Throws ValueError if it contains a NUL, where C would end it. Needs no GIL.
const char* c_text(const std::string& text);

}  // namespace tailrace_python
