/* aio_buffers.c: the pattern with the C library's asynchronous I/O, used with care: one file, two buffers in turn.
 *
 * A peer of tailrace in lab/peers; peer.c has the loop. `pattern run --write posix-aio` copies each block into new
 * memory, as a naive program does; this copies nothing. With TAILRACE_PEER_DIRECT defined it bypasses the page cache.
 * The lines that a user adds to a program are between the marks.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#ifdef TAILRACE_PEER_DIRECT
enum { kDirect = O_DIRECT };
#else
enum { kDirect = 0 };
#endif

static char* buffers[2];
static struct aiocb requests[2];
static uint64_t bytes;
static int fd;

static void check(int good, const char* what) {
  if (!good) peer_fail(what, strerror(errno));
}

static void open_file(const peer_settings* settings, const char* name) {
  bytes = settings->bytes;
  /* user code begin */
  fd = open(name, O_CREAT | O_TRUNC | O_WRONLY | kDirect, 0666);
  check(fd >= 0, "open");
  for (int i = 0; i < 2; ++i) buffers[i] = peer_buffer(bytes);
  /* user code end */
  /* O_DIRECT takes whole sectors only: what is verified is not, and no user's blocks need be. */
  if (bytes % 4096 != 0) check(fcntl(fd, F_SETFL, 0) == 0, "fcntl");
}

/* user code begin */
static void wait_for(struct aiocb* request) {
  const struct aiocb* const list[] = {request};
  if (request->aio_buf == NULL) return;
  while (aio_error(request) == EINPROGRESS) aio_suspend(list, 1, NULL);
  check(aio_return(request) == (ssize_t)bytes, "aio_write");
  request->aio_buf = NULL;
}
/* user code end */

static char* block(int iteration) {
  /* user code begin */
  wait_for(&requests[iteration % 2]);
  return buffers[iteration % 2];
  /* user code end */
}

static void put(int iteration) {
  /* user code begin */
  struct aiocb* const request = &requests[iteration % 2];
  memset(request, 0, sizeof *request);
  request->aio_fildes = fd;
  request->aio_buf = buffers[iteration % 2];
  request->aio_nbytes = bytes;
  request->aio_offset = (off_t)bytes * iteration;
  check(aio_write(request) == 0, "aio_write");
  /* user code end */
}

static void finish(void) {
  /* user code begin */
  for (int i = 0; i < 2; ++i) wait_for(&requests[i]);
  check(close(fd) == 0, "close");
  /* user code end */
}

static const char* describe(void) {
  return kDirect ? "aio_write from two buffers in turn, one file, O_DIRECT"
                 : "aio_write from two buffers in turn, one file";
}

int main(int argc, char** argv) {
  const peer_writer writer = {.name = "aio",
                              .page_cache = kDirect ? "bypassed" : "synced",
                              .buffers = 2,
                              .open = open_file,
                              .block = block,
                              .put = put,
                              .finish = finish,
                              .describe = describe};
  return peer_main(argc, argv, &writer);
}
