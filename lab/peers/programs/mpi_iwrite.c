/* mpi_iwrite.c: the pattern with MPI_File_iwrite_at_all: one file, two buffers in turn, no thread of the program's
 * own.
 *
 * A peer of tailrace in lab/peers, compiled with Open MPI's mpicc and with MPICH's; peer.c has the loop. The lines
 * that a user adds to a program are between the marks (one process: what a program that already uses MPI would add,
 * so MPI_Init does not count). It waits for a buffer's request before it uses the buffer again, as MPI requires.
 * Offsets are explicit: with MPICH 5.0.2, waiting for the older of two MPI_File_iwrite_all resets the individual file
 * pointer, and the next block overwrites the younger one. --verify found that.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

static MPI_File file;
static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static char* buffers[2];
static int bytes;

static void check(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  peer_fail(what, text);
}

static void open_file(const peer_settings* settings, const char* name) {
  const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
  bytes = (int)settings->bytes;
  /* user code begin */
  check(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file), "MPI_File_open");
  for (int i = 0; i < 2; ++i) buffers[i] = peer_buffer(settings->bytes);
  /* user code end */
}

static char* block(int iteration) {
  /* user code begin */
  check(MPI_Wait(&requests[iteration % 2], MPI_STATUS_IGNORE), "MPI_Wait");
  return buffers[iteration % 2];
  /* user code end */
}

static void put(int iteration) {
  /* user code begin */
  const int turn = iteration % 2;
  const MPI_Offset offset = (MPI_Offset)iteration * bytes;
  check(MPI_File_iwrite_at_all(file, offset, buffers[turn], bytes, MPI_BYTE, &requests[turn]),
        "MPI_File_iwrite_at_all");
  /* user code end */
}

static void finish(void) {
  /* user code begin */
  check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
  check(MPI_File_close(&file), "MPI_File_close");
  /* user code end */
}

/* The first words of the library's own version, in which MPICH has runs of blanks. */
static const char* describe(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING + 64];
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = 0;
  size_t to = 0;
  for (const char* at = version; *at != 0; ++at) {
    const char c = *at == '"' || *at == '\\' || *at == '\t' ? ' ' : *at;
    if (c != ' ' || (to > 0 && version[to - 1] != ' ')) version[to++] = c;
  }
  version[to] = 0;
  snprintf(text, sizeof text, "%s, MPI_File_iwrite_at_all, one process, one file", version);
  return text;
}

int main(int argc, char** argv) {
  const peer_writer writer = {.name = "mpi",
                              .page_cache = "synced",
                              .buffers = 2,
                              .open = open_file,
                              .block = block,
                              .put = put,
                              .finish = finish,
                              .describe = describe};
  int provided = 0;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided), "MPI_Init_thread");
  const int code = peer_main(argc, argv, &writer);
  MPI_Finalize();
  return code;
}
