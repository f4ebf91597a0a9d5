// Failures of writes, as errors of MPI.
#pragma once

#include <string>

namespace tailrace::mpiio {

// Writes the message to standard error, since MPI returns a class of errors alone. Returns that class.
int report_failure(const std::string& message, int system_errno);

// Returns the error of earlier writes to `path`, once each; MPI_SUCCESS if there is none.
int take_failures(const std::string& path);

}  // namespace tailrace::mpiio
