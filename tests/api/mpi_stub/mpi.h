// As much of MPI as the compiler needs to read tailrace_mpi.hpp, for tests of its behaviour without MPI. Nothing here
// can be called.
#ifndef TAILRACE_TESTS_MPI_STUB_H
#define TAILRACE_TESTS_MPI_STUB_H

using MPI_Comm = int;
using MPI_Info = int;
using MPI_Datatype = int;
using MPI_Op = int;

constexpr int MPI_SUCCESS = 0;
constexpr int MPI_UNDEFINED = -1;
constexpr int MPI_COMM_TYPE_SHARED = 0;
constexpr MPI_Comm MPI_COMM_NULL = -1;
constexpr MPI_Info MPI_INFO_NULL = 0;
constexpr MPI_Datatype MPI_INT = 0;
constexpr MPI_Op MPI_SUM = 0;
constexpr MPI_Op MPI_MIN = 1;
constexpr void* MPI_IN_PLACE = nullptr;

int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made);
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm);
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm);

#endif
