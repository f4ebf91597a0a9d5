// failure: turns a status of the C interface into the Python exception tailrace.Error (or tailrace.Dropped).
//
// The classes are written in Python (tailrace/_errors.py); this file fills them in. It decides nothing.
#pragma once

#include <nanobind/nanobind.h>
#include <tailrace/tailrace.h>

#include <cstdint>
#include <string>

namespace tailrace_python {

// The contents of an exception, copied out of the C interface while its strings live.
struct Failure {
  tailrace_status status = TAILRACE_OK;
  bool earlier = false;
  int system_errno = 0;
  int64_t iteration = -1;
  uint64_t more = 0;
  std::string operation, file, variable, message;
};

// The last error of `client`; `status` is what the call returned, and stands where the client cannot tell. Call it on
// the thread that made the call, before any other call of the client.
Failure last_failure(tailrace_client* client, tailrace_status status);

// Raises the failure of a close, with the others that it has not told (Error.others). Needs the GIL.
[[noreturn]] void raise_all(tailrace_client* client, tailrace_status status);

// The exception itself, not raised. Needs the GIL. `ticket`: of a block lent by the call that raises, or None.
nanobind::object make_exception(const Failure& failure, nanobind::handle ticket = nanobind::none());

// Raises it. Needs the GIL.
[[noreturn]] void raise(const Failure& failure, nanobind::handle ticket = nanobind::none());

// Raises unless `status` is TAILRACE_OK. Needs the GIL.
void check(tailrace_client* client, tailrace_status status);

// For the verbs that may drop: false if the iteration was dropped. Needs the GIL.
bool accepted(tailrace_client* client, tailrace_status status);

// A text as C takes it; ValueError if it has a NUL inside, where C would see its end. May be called without the GIL.
const char* c_text(const std::string& text);

}  // namespace tailrace_python
