// The common parts of the calls of MPI-IO.
#pragma once

#include <cstdint>
#include <utility>

#include "mpiio/calls/background_accesses.hpp"
#include "mpiio/calls/meeting.hpp"
#include "mpiio/files/open_files.hpp"
#include "mpiio/mpi/mpi_header.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/pending/pending.hpp"
#include "mpiio/process/process.hpp"

// Defines the name by which profilers, and the Fortran of Open MPI, call the function.
#define TAILRACE_ALSO_PMPI(name) \
  extern "C" decltype(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name), visibility("default")))

// Begins the definition of a function of MPI, which the MPI's header need not declare.
#define TAILRACE_FUNCTION extern "C" __attribute__((visibility("default"))) int

// Defines both forms of a function by `define`(name, parameters, …): MPI_<name>, whose count `n` is an int, and
// MPI_<name>_c of MPI 4, whose count is an MPI_Count. `before` and `behind` are the other parameters. A program may
// run with a later MPI than the one whose header is here, so both are always there.
#define TAILRACE_BOTH_COUNTS(define, name, before, behind, ...)                   \
  define(name, (TAILRACE_LIST before, int n, TAILRACE_LIST behind), __VA_ARGS__); \
  define(name##_c, (TAILRACE_LIST before, MPI_Count n, TAILRACE_LIST behind), __VA_ARGS__)
#define TAILRACE_LIST(...) __VA_ARGS__

// Defines MPI_<name>: it writes what is on its way, and calls the MPI's own.
#define TAILRACE_SETTLE_FIRST(name, parameters, arguments)                           \
  TAILRACE_FUNCTION MPI_##name parameters {                                          \
    const int failed = ::tailrace::mpiio::settle(handle);                            \
    return ::tailrace::mpiio::first_of(failed, TAILRACE_REAL(MPI_##name) arguments); \
  }                                                                                  \
  TAILRACE_ALSO_PMPI(name)

// Does it for calls that all processes make, and that may wait for one another.
#define TAILRACE_SETTLE_ALL_FIRST(name, parameters, arguments)                       \
  TAILRACE_FUNCTION MPI_##name parameters {                                          \
    ::tailrace::mpiio::meet_file(handle);                                            \
    const int failed = ::tailrace::mpiio::settle(handle);                            \
    return ::tailrace::mpiio::first_of(failed, TAILRACE_REAL(MPI_##name) arguments); \
  }                                                                                  \
  TAILRACE_ALSO_PMPI(name)

// Defines MPI_<name>, a write or a read: if `can` says that it is made here, it returns `here`, which uses `file`;
// else `otherwise`, which calls the MPI's own as real(…).
#define TAILRACE_CARRY(name, parameters, can, offset, here, otherwise)                                 \
  TAILRACE_FUNCTION MPI_##name parameters {                                                            \
    int failed = MPI_SUCCESS;                                                                          \
    if (OpenFile* const file = file_for(handle, &OpenFile::can, offset, n, type, failed)) return here; \
    const auto real = [](auto... arguments) { return TAILRACE_REAL(MPI_##name)(arguments...); };       \
    return first_of(failed, otherwise);                                                                \
  }                                                                                                    \
  TAILRACE_ALSO_PMPI(name)

// Defines it for a call in which the processes may wait for one another.
#define TAILRACE_CARRY_ALL(name, parameters, can, offset, here, otherwise) \
  TAILRACE_CARRY(name, parameters, can, offset, (meet_file(handle), here), (meet_file(handle), otherwise))

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
  if (file == nullptr) {  // it may be another opening of a file that is carried
    if (carries_anything()) Pending::instance().settle_all();
    return MPI_SUCCESS;
  }
  const int failed = file->drain();
  file->wait_for_others();
  return report(handle, failed);
}

// Returns the file of a write or a read if `can` says that it is made here. If the MPI has to make it, or to refuse
// it, writes first what is on its way.
inline OpenFile* file_for(MPI_File handle, bool (OpenFile::*can)(), MPI_Offset offset, MPI_Count count,
                          MPI_Datatype type, int& failed) {
  OpenFile* const file = find(handle);
  const bool good = offset >= 0 && count >= 0 && type != MPI_DATATYPE_NULL;
  if (file == nullptr || (good && (file->*can)())) return file;
  // The other processes count a collective write that is refused here.
  if (!good && can == &OpenFile::carries_all && file->carries_all()) (void)file->collectives().next_write();
  failed = settle(handle);
  return nullptr;
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
