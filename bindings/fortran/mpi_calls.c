/* mpi_calls: what the Fortran module tailrace_mpi calls, over tailrace_mpi.h. Handles of MPI come as Fortran's
 * integers, and texts end with NUL. */
#include <tailrace/tailrace_mpi.h>

/* Copies the message that explains a failure; the text always ends with NUL. */
static void explain(char* message, size_t size) { snprintf(message, size, "%s", tailrace_mpi_message()); }

int tailrace_mpi_f_split(MPI_Fint comm, const char* config, const tailrace_mpi_options* options, MPI_Fint* computing,
                         char* message, size_t size) {
  MPI_Comm result = MPI_COMM_NULL;
  const tailrace_status status = tailrace_mpi_split(MPI_Comm_f2c(comm), config, options, &result);
  *computing = MPI_Comm_c2f(result);
  explain(message, size);
  return (int)status;
}

int tailrace_mpi_f_locate(MPI_Fint comm, tailrace_mpi_where* where, char* message, size_t size) {
  const tailrace_status status = tailrace_mpi_locate(MPI_Comm_f2c(comm), where);
  explain(message, size);
  return (int)status;
}

void tailrace_mpi_f_barrier(MPI_Fint comm) { MPI_Barrier(MPI_Comm_f2c(comm)); }
