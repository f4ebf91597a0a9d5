/* The example of the README in C: three steps, and one way to hand a block over for each variable. */
#include <stdio.h>
#include <stdlib.h>
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

int main(void) {
  static double solution[N], density[N];
  tailrace_client* out = NULL;
  check(NULL, tailrace_open("sim.yaml", 0, &out));
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < N; ++i) solution[i] = 1000.0 * step + i;
    check(out, tailrace_write(out, "temperature", step, solution)); /* one copy; `solution` is ours again */
    void* memory = NULL;
    check(out, tailrace_alloc(out, "pressure", step, &memory)); /* tailrace's memory: no copy */
    double* pressure = memory;
    for (int i = 0; i < N; ++i) pressure[i] = 2 * solution[i];
    check(out, tailrace_commit(out, "pressure", step));
    for (int i = 0; i < N; ++i) density[i] = 3 * solution[i];
    tailrace_ticket ticket;
    check(out, tailrace_borrow(out, "density", step, density, &ticket)); /* our memory: leave it alone until … */
    check(out, tailrace_end_iteration(out, step));
    check(out, tailrace_wait(ticket, -1)); /* … here */
  }
  check(out, tailrace_close(out));
  return 0;
}
