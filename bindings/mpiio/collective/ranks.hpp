// nodes_of: on which node each process of a communicator runs.
#pragma once

#include <cstddef>
#include <vector>

#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

// Returns a number for the node of each rank, equal for ranks that share memory. All processes call it together.
std::vector<int> nodes_of(MPI_Comm comm);

}  // namespace tailrace::mpiio
