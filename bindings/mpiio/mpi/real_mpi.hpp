// The MPI's own functions, which this library stands in front of.
//
// The library is preloaded, and linked to no MPI: a program without one must be able to load it, too. So it looks
// every function up when it first calls it, behind itself in the order of loading. Profilers that are loaded behind
// it see the calls that it passes on.
#pragma once

#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

// Returns the next function of that name; null if there is none.
void* find_next(const char* name);
// Returns the next function of that name; ends the process if there is none, or if it is of an MPI with another
// binary interface.
void* next_function(const char* name);

}  // namespace tailrace::mpiio

// TAILRACE_REAL(MPI_File_open)(…) calls the MPI's own.
#define TAILRACE_REAL(function)                                                                                  \
  ([] {                                                                                                          \
    static const auto next = reinterpret_cast<decltype(&function)>(::tailrace::mpiio::next_function(#function)); \
    return next;                                                                                                 \
  }())
