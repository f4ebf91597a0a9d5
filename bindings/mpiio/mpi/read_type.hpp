// read_type: reads an MPI datatype, as its constructors left it.
#pragma once

#include "mpiio/mpi/mpi_header.hpp"
#include "mpiio/types/type_tree.hpp"

namespace tailrace::mpiio {

// Returns null if the type has a part that is not known.
TypePointer read_type(MPI_Datatype type);

// Returns true if the type is predefined. Then `size` is its size in bytes, or 0 if that is not its extent.
bool is_predefined(MPI_Datatype type, uint64_t& size);

}  // namespace tailrace::mpiio
