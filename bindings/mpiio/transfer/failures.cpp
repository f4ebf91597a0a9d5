#include "mpiio/transfer/failures.hpp"

#include <cerrno>
#include <cstdio>

#include "mpiio/mpi/mpi_header.hpp"
#include "mpiio/process/process.hpp"

namespace tailrace::mpiio {

int report_failure(const std::string& message, int system_errno) {
  std::fprintf(stderr, "tailrace: %s\n", message.c_str());
  if (system_errno == ENOSPC) return MPI_ERR_NO_SPACE;
  if (system_errno == EDQUOT) return MPI_ERR_QUOTA;
  return system_errno == EROFS ? MPI_ERR_READ_ONLY : MPI_ERR_IO;
}

int take_failures(const std::string& path) {
  int error = MPI_SUCCESS;
  for (const auto& failure : carrier().take_failures(path)) {
    error = report_failure(failure.message, failure.system_errno);
  }
  return error;
}

}  // namespace tailrace::mpiio
