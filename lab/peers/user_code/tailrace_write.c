/* What a program adds to write by tailrace with one copy: see check.h. Its configuration is tailrace.yaml. */
#include <stddef.h>
#include <tailrace/tailrace.h>

#include "check.h"

static tailrace_client* out;
static double data[kElements];

void open_output(void) {
  /* user code begin */
  check(tailrace_open("tailrace.yaml", 0, &out) == TAILRACE_OK);
  /* user code end */
}

double* block(int iteration) {
  (void)iteration;
  return data;
}

void put(int iteration) {
  /* user code begin */
  check(tailrace_write(out, "v0", iteration, data) == TAILRACE_OK);
  check(tailrace_end_iteration(out, iteration) == TAILRACE_OK);
  /* user code end */
}

void finish(void) {
  /* user code begin */
  check(tailrace_close(out) == TAILRACE_OK);
  /* user code end */
}
