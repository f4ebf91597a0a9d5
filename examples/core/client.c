/* The example of the README in C as one of several clients of a node: `client --client 3`. The configuration, not
 * the program, makes a server process write the blocks (place core): only the client's number shows it here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tailrace/tailrace.h>

enum { N = 48 * 64 };

/* Every call returns a status; this example ends at the first that is not TAILRACE_OK. */
static void check(tailrace_client* out, tailrace_status status) {
  tailrace_error error = {.struct_size = sizeof error};
  if (status == TAILRACE_OK) return;
  tailrace_last_error(out, &error);
  fprintf(stderr, "%s\n", error.message ? error.message : tailrace_status_text(status));
  exit(1);
}

int main(int argc, char** argv) {
  static double solution[N], density[N];
  const int client = argc == 3 && strcmp(argv[1], "--client") == 0 ? atoi(argv[2]) : 0; /* under MPI: the rank */
  tailrace_client* out = NULL;
  check(NULL, tailrace_open("sim.yaml", client, &out));
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < N; ++i) solution[i] = 10000.0 * client + 1000.0 * step + i;
    check(out, tailrace_write(out, "temperature", step, solution)); /* one copy; `solution` is ours again */
    void* memory = NULL;
    check(out, tailrace_alloc(out, "pressure", step, &memory)); /* memory shared with the server: no copy */
    double* pressure = memory;
    for (int i = 0; i < N; ++i) pressure[i] = 2 * solution[i];
    check(out, tailrace_commit(out, "pressure", step));
    for (int i = 0; i < N; ++i) density[i] = 3 * solution[i];
    tailrace_ticket ticket;
    check(out, tailrace_borrow(out, "density", step, density, &ticket)); /* copied: the server cannot see it */
    check(out, tailrace_end_iteration(out, step));
    check(out, tailrace_wait(ticket, -1));
  }
  check(out, tailrace_close(out));
  return 0;
}
