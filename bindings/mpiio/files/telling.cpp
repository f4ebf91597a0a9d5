#include "mpiio/files/telling.hpp"

#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/pending/pending.hpp"
#include "mpiio/process/process.hpp"

namespace tailrace::mpiio {
namespace {

// Returns true if the processes of the program do not all have the same table of pending bytes.
bool are_on_several_nodes() {
  const uint64_t node = Pending::instance().node();
  const uint64_t mine[] = {node, ~node};
  uint64_t largest[] = {0, 0};
  const int error = TAILRACE_REAL(MPI_Allreduce)(mine, largest, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return error != MPI_SUCCESS || largest[0] != ~largest[1];
}

}  // namespace

void look_who_listens() {
  MPI_Comm parent = MPI_COMM_NULL;
  TAILRACE_REAL(MPI_Comm_get_parent)(&parent);
  const bool several = carries_anything() && keeps_order() && (parent != MPI_COMM_NULL || are_on_several_nodes());
  other_nodes_listen.store(several, std::memory_order_relaxed);
}

void write_before_telling() {
  if (Pending::has_any()) (void)Pending::instance().flush();
}

}  // namespace tailrace::mpiio
