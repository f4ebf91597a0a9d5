/* The example of the README in C under MPI, where the last rank of each node becomes the server: `mpiexec -n 5 mpi`
 * has four ranks that compute. Each of these is a client, whose number is its rank. */
#include <tailrace/tailrace_mpi.h>

enum { SIZE = 48 * 64 };

/* Stops all ranks with the reason if a call failed. */
static void check(tailrace_client* client, tailrace_status status) {
  tailrace_error error = {.struct_size = sizeof error};
  if (status == TAILRACE_OK || status == TAILRACE_DROPPED) return;
  tailrace_last_error(client, &error);
  fprintf(stderr, "%s\n", error.message);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compute(MPI_Comm computing) {
  static double solution[SIZE], density[SIZE];
  tailrace_client* out = NULL;
  int rank = 0;
  MPI_Comm_rank(computing, &rank);
  check(NULL, tailrace_mpi_open(computing, "sim.yaml", NULL, &out));
  for (int step = 0; step < 3; ++step) {
    void* memory = NULL;
    tailrace_ticket ticket;
    for (int i = 0; i < SIZE; ++i) solution[i] = 10000.0 * rank + 1000.0 * step + i;
    check(out, tailrace_write(out, "temperature", step, solution)); /* one copy; `solution` is ours again */
    check(out, tailrace_alloc(out, "pressure", step, &memory));     /* memory shared with the server: no copy */
    for (int i = 0; i < SIZE; ++i) ((double*)memory)[i] = 2 * solution[i];
    check(out, tailrace_commit(out, "pressure", step));
    for (int i = 0; i < SIZE; ++i) density[i] = 3 * solution[i];
    check(out, tailrace_borrow(out, "density", step, density, &ticket)); /* copied: the server cannot see it */
    check(out, tailrace_end_iteration(out, step));
    check(out, tailrace_wait(ticket, -1));
  }
  check(out, tailrace_close(out));
}

int main(int argc, char** argv) {
  MPI_Comm computing = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  if (tailrace_mpi_split(MPI_COMM_WORLD, "sim.yaml", NULL, &computing) != TAILRACE_OK) {
    fprintf(stderr, "%s\n", tailrace_mpi_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (computing != MPI_COMM_NULL) {
    compute(computing);
    MPI_Comm_free(&computing);
  }
  MPI_Finalize();
  return 0;
}
