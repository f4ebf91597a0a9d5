// Failure: a call of Damaris that failed, with its code; and the codes for what tailrace reports.
#pragma once

#include <tailrace/tailrace.h>

#include <stdexcept>
#include <string>

namespace tailrace::damaris {

class Failure : public std::runtime_error {
 public:
  Failure(int code_of_call, const std::string& message) : std::runtime_error(message), code(code_of_call) {}
  const int code;  // one of Damaris.h
};

// Returns the code of Damaris for a failure that tailrace reports.
int code_of(tailrace_status status);

// Returns ok, or the code of the last failure of this client, which is written to stderr with its reason. `what`
// names the call. A failure of an earlier request is one, too, though this call has been carried out.
int check(tailrace_client* client, tailrace_status status, const std::string& what);

// Writes a line to stderr, once.
void say(const std::string& line);

}  // namespace tailrace::damaris
