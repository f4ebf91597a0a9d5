#include "mpiio/collective/ranks.hpp"

#include "mpiio/mpi/real_mpi.hpp"

namespace tailrace::mpiio {

std::vector<int> nodes_of(MPI_Comm comm) {
  int rank = 0;
  int ranks = 0;
  TAILRACE_REAL(MPI_Comm_rank)(comm, &rank);
  TAILRACE_REAL(MPI_Comm_size)(comm, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  TAILRACE_REAL(MPI_Comm_split_type)(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int first = rank;  // of the node
  TAILRACE_REAL(MPI_Allreduce)(&rank, &first, 1, MPI_INT, MPI_MIN, node);
  TAILRACE_REAL(MPI_Comm_free)(&node);
  std::vector<int> nodes(static_cast<size_t>(ranks));
  TAILRACE_REAL(MPI_Allgather)(&first, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm);
  return nodes;
}

}  // namespace tailrace::mpiio
