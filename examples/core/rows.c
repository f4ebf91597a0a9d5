/* Several clients of a node write one raw file, a matrix, in the program's own format: `rows --client 3`. Each has a
 * band of columns, and so a piece of every row; the node's server joins all their pieces into large writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tailrace/tailrace.h>

enum { CLIENTS = 4, ROWS = 256, BAND = 64, COLUMNS = CLIENTS * BAND };

/* Every call returns a status; this example ends at the first that is not TAILRACE_OK. */
static void check(tailrace_client* out, tailrace_status status) {
  tailrace_error error = {.struct_size = sizeof error};
  if (status == TAILRACE_OK) return;
  tailrace_last_error(out, &error);
  fprintf(stderr, "%s\n", error.message ? error.message : tailrace_status_text(status));
  exit(1);
}

int main(int argc, char** argv) {
  static double band[ROWS][BAND];
  static tailrace_extent extents[ROWS];
  const int client = argc == 3 && strcmp(argv[1], "--client") == 0 ? atoi(argv[2]) : 0; /* under MPI: the rank */
  tailrace_client* out = NULL;
  tailrace_file matrix;
  check(NULL, tailrace_open("sim.yaml", client, &out));
  check(out, tailrace_file_open(out, "matrix.raw", TAILRACE_FILE_WRITE, &matrix)); /* the first client creates it */
  for (int row = 0; row < ROWS; ++row) {
    const int first = client * BAND;
    for (int i = 0; i < BAND; ++i) band[row][i] = 1000.0 * row + first + i;
    extents[row].offset = (uint64_t)(row * COLUMNS + first) * sizeof(double);
    extents[row].length = sizeof band[row];
  }
  check(out, tailrace_file_write(matrix, ROWS, extents, band)); /* one copy; `band` is ours again */
  check(out, tailrace_file_close(matrix));                      /* waits until all of it is written */
  check(out, tailrace_close(out));
  return 0;
}
