// MPI_Abort: what has been handed over is written first. The MPI may end the process without its exit functions.
#include <tailrace/tailrace.h>

#include "mpiio/calls/call.hpp"

extern "C" int MPI_Abort(MPI_Comm comm, int code) {
  tailrace_drain_now();
  return TAILRACE_REAL(MPI_Abort)(comm, code);
}
TAILRACE_ALSO_PMPI(Abort);
