/* peer.h: the loop of every peer in C: compute, mark the block as this iteration's, hand it to a writer, take all
 * times.
 *
 * It does what `pattern run` and peer.py do, with the same computation (libpattern_compute.so) and the same JSON
 * document, so that a peer's program has only what its user would write. It judges nothing, and knows no library that
 * writes. A peer that cannot continue says why on stderr and ends the process with exit code 1 (peer_fail).
 */
#ifndef TAILRACE_BENCH_PEERS_PEER_H
#define TAILRACE_BENCH_PEERS_PEER_H

#include <stdint.h>

/* What the command line asked for. */
typedef struct peer_settings {
  const char* library; /* libpattern_compute.so */
  const char* compute;
  const char* memory;
  const char* dir;
  uint64_t passes;
  uint64_t bytes; /* of one block */
  int threads;
  int iterations;
  int keep;   /* leave the file */
  int verify; /* read all back and compare */
} peer_settings;

/* A way to write. It writes one file, settings.dir/peer.dat, the iterations' blocks one after another. */
typedef struct peer_writer {
  const char* name;
  const char* page_cache; /* "bypassed", or "synced": peer.c syncs the file, whichever it is */
  uint64_t buffers;       /* of settings.bytes each, for the JSON document */
  /* Prepares; not timed. Its buffers come from peer_buffer. */
  void (*open)(const peer_settings* settings, const char* file);
  /* The memory to compute this iteration's block into, free to be overwritten; timed as waiting. */
  char* (*block)(int iteration);
  /* Hands that memory over; timed as waiting. */
  void (*put)(int iteration);
  /* Returns when the operating system has got everything; timed as waiting. */
  void (*finish)(void);
  const char* (*describe)(void); /* the library and its version */
} peer_writer;

/* Runs the peer's program; its exit code. */
int peer_main(int argc, char** argv, const peer_writer* writer);

/* Memory of `bytes`, aligned to a huge page, touched, each byte of a value that depends on its place. */
char* peer_buffer(uint64_t bytes);

_Noreturn void peer_fail(const char* what, const char* why);

#endif
