/* The kernels' C library, used as the peers' programs use it. */
#include <stdio.h>

#include "lab/pattern/compute/pattern_compute.h"

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

static double after(const char* kernel, int threads, const char* memory, uint64_t first, uint64_t second) {
  void* const worker = pattern_compute_new(kernel, threads, memory);
  expect(worker != NULL, kernel);
  if (worker == NULL) return 0;
  pattern_compute_run(worker, first);
  pattern_compute_run(worker, second);
  const double result = pattern_compute_result(worker);
  pattern_compute_free(worker);
  return result;
}

int main(void) {
  expect(after("jacobi", 1, "heap", 10, 90) == after("jacobi", 2, "heap", 60, 40),
         "portions and threads do not show");
  expect(after("busy", 1, "heap", 10, 10) == after("busy", 1, "static", 20, 0),
         "the place of the arrays does not show");
  expect(after("busy", 1, "heap", 10, 10) != after("busy", 1, "heap", 10, 11), "passes show");
  expect(pattern_compute_new("lazy", 1, "heap") == NULL, "an unknown kernel is refused");
  expect(pattern_compute_new("busy", 0, "heap") == NULL, "no threads are refused");
  expect(pattern_compute_new("busy", 1, "stack") == NULL, "an unknown memory is refused");
  expect(pattern_compute_new(NULL, 1, NULL) == NULL, "NULL is refused");
  void* const first = pattern_compute_new("busy", 1, "static");
  expect(first != NULL && pattern_compute_new("busy", 1, "static") == NULL, "static memory has one user");
  pattern_compute_free(first);
  pattern_compute_free(NULL);
  return failures == 0 ? 0 : 1;
}
