// mpi.h, of the MPI that this copy of the library is compiled for. Its functions are visible, since the library
// defines some of them.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

// Open MPI's constants are addresses of its objects. A process may load Open MPI late, or not at all, so the library
// refers to none of them, but finds each when it first needs it.
#ifdef OPEN_MPI
namespace tailrace::mpiio {
// Returns the address of the MPI's object of that name; null if no MPI is loaded.
void* mpi_object(const char* name);
}  // namespace tailrace::mpiio
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, object)                                 \
  ([] {                                                                      \
    static void* const its_address = ::tailrace::mpiio::mpi_object(#object); \
    return static_cast<type>(its_address);                                   \
  }())
#endif
