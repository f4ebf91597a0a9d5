/* What a program adds to write by tailrace without a copy: see check.h. Its configuration is tailrace.yaml. */
#include <stddef.h>
#include <tailrace/tailrace.h>

#include "check.h"

static tailrace_client* out;

void open_output(void) {
  /* user code begin */
  check(tailrace_open("tailrace.yaml", 0, &out) == TAILRACE_OK);
  /* user code end */
}

double* block(int iteration) {
  /* user code begin */
  void* memory = NULL;
  check(tailrace_alloc(out, "v0", iteration, &memory) == TAILRACE_OK);
  return memory;
  /* user code end */
}

void put(int iteration) {
  /* user code begin */
  check(tailrace_commit(out, "v0", iteration) == TAILRACE_OK);
  check(tailrace_end_iteration(out, iteration) == TAILRACE_OK);
  /* user code end */
}

void finish(void) {
  /* user code begin */
  check(tailrace_close(out) == TAILRACE_OK);
  /* user code end */
}
