// The common parts of the calls of MPI-IO.
#pragma once

#include <cstdint>
#include <utility>

#include "mpiio/calls/going_on.hpp"
#include "mpiio/calls/meeting.hpp"
#include "mpiio/files/open_files.hpp"
#include "mpiio/mpi/mpi_header.hpp"
#include "mpiio/mpi/real_mpi.hpp"

// Defines the name by which profilers, and the Fortran of Open MPI, call the function.
#define TAILRACE_ALSO_PMPI(name) \
  extern "C" decltype(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name), visibility("default")))

// Defines MPI_<name>: it writes what is on its way, and calls the MPI's own.
#define TAILRACE_SETTLE_FIRST(name, parameters, arguments)                           \
  extern "C" int MPI_##name parameters {                                             \
    const int failed = ::tailrace::mpiio::settle(handle);                            \
    return ::tailrace::mpiio::first_of(failed, TAILRACE_REAL(MPI_##name) arguments); \
  }                                                                                  \
  TAILRACE_ALSO_PMPI(name)

// Does it for calls that all processes make, and that may wait for one another.
#define TAILRACE_SETTLE_ALL_FIRST(name, parameters, arguments)                       \
  extern "C" int MPI_##name parameters {                                             \
    ::tailrace::mpiio::meet_file(handle);                                            \
    const int failed = ::tailrace::mpiio::settle(handle);                            \
    return ::tailrace::mpiio::first_of(failed, TAILRACE_REAL(MPI_##name) arguments); \
  }                                                                                  \
  TAILRACE_ALSO_PMPI(name)

namespace tailrace::mpiio {

// Returns the file if its writes are carried; else null.
inline OpenFile* find(MPI_File handle) { return OpenFiles::instance().find(handle); }

// Reports an error through the file's error handler, which may end the program. Returns the error.
inline int report(MPI_File handle, int error) {
  if (error != MPI_SUCCESS) TAILRACE_REAL(MPI_File_call_errhandler)(handle, error);
  return error;
}

// Writes everything that is on its way, here and in other processes of the node, so that the MPI may go on. Returns
// the error that the call has to return.
inline int settle(MPI_File handle) {
  OpenFile* const file = find(handle);
  if (file == nullptr) return MPI_SUCCESS;
  const int failed = file->drain();
  file->wait_for_others();
  return report(handle, failed);
}

// Returns the first error of two.
inline int first_of(int failed, int error) { return failed != MPI_SUCCESS ? failed : error; }

// Sets the status of a write: how many bytes it has transferred.
inline void set_status(MPI_Status* status, uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  TAILRACE_REAL(MPI_Status_set_elements_x)(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  TAILRACE_REAL(MPI_Status_set_cancelled)(status, 0);
}

}  // namespace tailrace::mpiio
