// mpi.h, of the MPI that this copy of the library is compiled for. Its functions are visible, since the library
// defines some of them.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

// Open MPI's constants are addresses of objects, which a process without MPI lacks.
#ifdef OPEN_MPI
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_uint64_t
#pragma weak ompi_message_null
#pragma weak ompi_mpi_info_null
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_packed
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_int
#pragma weak ompi_mpi_longdbl_int
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_short_int
#pragma weak ompi_mpi_file_null
#pragma weak ompi_request_null
#endif
