/* As much of MPI as compilers of C and C++ need to read tailrace_mpi.h and .hpp, for tests of their behaviour without
 * MPI. Nothing here can be called. */
#ifndef TAILRACE_TESTS_MPI_STUB_H
#define TAILRACE_TESTS_MPI_STUB_H

typedef int MPI_Comm;
typedef int MPI_Info;
typedef int MPI_Datatype;
typedef int MPI_Op;

#define MPI_SUCCESS 0
#define MPI_UNDEFINED (-1)
#define MPI_COMM_TYPE_SHARED 0
#define MPI_COMM_NULL (-1)
#define MPI_INFO_NULL 0
#define MPI_INT 0
#define MPI_SUM 0
#define MPI_MIN 1
#define MPI_IN_PLACE ((void*)0)

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
