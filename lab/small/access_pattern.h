/* An access pattern: which pieces of one file each client of a program writes, and in which order.
 *
 * In plain C, since programs that an MPI's mpicc compiles have the same patterns. Pure functions of a few numbers;
 * all pieces of a pattern have the same length. It knows nothing of how they are written.
 */
#ifndef BENCH_SMALL_ACCESS_PATTERN_H
#define BENCH_SMALL_ACCESS_PATTERN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum access_kind {
  ACCESS_ROWS,       /* of a matrix, dealt to the clients in turn; a piece is a row */
  ACCESS_OVERLAP,    /* one client, whose pieces overlap: each byte is handed over several times */
  ACCESS_BEHIND,     /* rows, and each is read back by the client that has just written it */
  ACCESS_CHECKPOINT, /* of Flash-I/O: 24 variables of 80 blocks a client, 8^3 cells, double precision */
  ACCESS_PLOT,       /* of Flash-I/O: 4 variables, single precision */
  ACCESS_CORNERS,    /* the same, with the cells' corners: 9^3 */
  ACCESS_TILES       /* of a matrix, one a client, without overlap; a piece is a row of a tile */
} access_kind;

enum { ACCESS_BLOCKS = 80, ACCESS_GUARD = 4, ACCESS_CELLS = 8, ACCESS_WITH_GUARD = ACCESS_CELLS + 2 * ACCESS_GUARD };

typedef struct access_request {
  const char* kind; /* "rows", … */
  int clients;
  uint64_t bytes; /* of the file; not of Flash-I/O, whose sizes are given */
  uint64_t piece; /* the same */
  int times;      /* overlap: how often each byte is handed over */
  int by_block;   /* Flash-I/O: a piece is a block, not all blocks of a client */
} access_request;

typedef struct access_pattern {
  access_kind kind;
  int clients;
  uint64_t pieces; /* of each client */
  uint64_t length; /* of each piece */
  uint64_t calls;  /* by how many collective calls a program would write it all */
  uint64_t bytes;  /* of the file */
  uint64_t step;   /* overlap: from one piece to the next */
  int columns;     /* tiles: beside each other */
  int edge;        /* Flash-I/O: values along each edge of a block */
  int variables;   /* Flash-I/O */
} access_pattern;

/* Fills `pattern`; NULL, or what is wrong with the request. */
const char* access_pattern_make(access_pattern* pattern, const access_request* request);

/* Where piece number `index` of a client begins. */
uint64_t access_pattern_offset(const access_pattern* pattern, int client, uint64_t index);

/* Whether it is one of Flash-I/O's. */
int access_pattern_is_flash(const access_pattern* pattern);

/* Bytes of one value of Flash-I/O in the file. */
uint64_t access_pattern_value(const access_pattern* pattern);

#ifdef __cplusplus
}
#endif

#endif
