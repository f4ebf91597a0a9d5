// failure: turns a status of the C interface into the Python exception tailrace.Error (or a class derived from it).
//
// The classes are written in Python (tailrace/_errors.py), which chooses one; this file sets their attributes.
#pragma once

#include <nanobind/nanobind.h>
#include <tailrace/tailrace.h>

#include <cstdint>
#include <string>

namespace tailrace_python {

// The contents of an exception, copied from the C interface while its strings are valid.
struct Failure {
  tailrace_status status = TAILRACE_OK;
  bool earlier = false;
  int system_errno = 0;
  int64_t iteration = -1;
  uint64_t more = 0;
  std::string operation, file, variable, message;
};

// Returns the last error of `client`. `status` is what the call returned, for an error that the client cannot report.
// Call it on the thread that made the call, before any other call of the client.
Failure last_failure(tailrace_client* client, tailrace_status status);

// Raises the failure of a close, with the others that were not reported (Error.others). Needs the GIL.
[[noreturn]] void raise_all(tailrace_client* client, tailrace_status status);

// Returns the exception without raising it. Needs the GIL. `ticket`: of a block that the call has lent, or None.
nanobind::object make_exception(const Failure& failure, nanobind::handle ticket = nanobind::none());

// Raises the exception. Needs the GIL.
[[noreturn]] void raise(const Failure& failure, nanobind::handle ticket = nanobind::none());

// Raises unless `status` is TAILRACE_OK. Needs the GIL.
void check(tailrace_client* client, tailrace_status status);

// For the verbs that may drop: returns false if the iteration was dropped. Needs the GIL.
bool accepted(tailrace_client* client, tailrace_status status);

// Returns the text as C takes it. Throws ValueError if it contains a NUL, where C would end it. Needs no GIL.
const char* c_text(const std::string& text);

}  // namespace tailrace_python
