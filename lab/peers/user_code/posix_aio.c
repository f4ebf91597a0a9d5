/* Code that a program adds to write with the C library's asynchronous I/O, like the naive writer of the pattern
 * program; see check.h. It copies each block into new memory; only the list's length bounds the pending writes.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static double data[kElements];

/* user code begin */
enum { kPending = 3 };
static struct aiocb requests[kPending];

static void wait_for(struct aiocb* request) {
  const struct aiocb* const list[] = {request};
  if (request->aio_buf == NULL) return;
  while (aio_error(request) == EINPROGRESS) aio_suspend(list, 1, NULL);
  check(aio_return(request) == (ssize_t)kBytes);
  check(close(request->aio_fildes) == 0);
  free((void*)request->aio_buf);
  request->aio_buf = NULL;
}
/* user code end */

void open_output(void) {}

double* block(int iteration) {
  (void)iteration;
  return data;
}

void put(int iteration) {
  /* user code begin */
  struct aiocb* const request = &requests[iteration % kPending];
  char name[64];
  wait_for(request);
  void* const copy = malloc(kBytes);
  check(copy != NULL);
  memcpy(copy, data, kBytes);
  snprintf(name, sizeof name, "out/v0_%06d", iteration);
  const int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0666);
  check(fd >= 0);
  *request = (struct aiocb){.aio_fildes = fd, .aio_buf = copy, .aio_nbytes = kBytes};
  check(aio_write(request) == 0);
  /* user code end */
}

void finish(void) {
  /* user code begin */
  for (int i = 0; i < kPending; ++i) wait_for(&requests[i]);
  /* user code end */
}
