#include "access_pattern.h"

#include <stddef.h>
#include <string.h>

static const char* const kinds[] = {"rows", "overlap", "behind", "checkpoint", "plot", "corners", "tiles"};

/* As many tiles one below another as there are beside each other, or fewer. */
static int columns_of(int clients) {
  int columns = 1;
  for (int i = 1; i * i <= clients; ++i) {
    if (clients % i == 0) columns = clients / i;
  }
  return columns;
}

static const char* make_flash(access_pattern* to, int by_block) {
  to->variables = to->kind == ACCESS_CHECKPOINT ? 24 : 4;
  to->edge = to->kind == ACCESS_CORNERS ? ACCESS_CELLS + 1 : ACCESS_CELLS;
  const uint64_t block = (uint64_t)(to->edge * to->edge * to->edge) * access_pattern_value(to);
  const uint64_t variables = (uint64_t)to->variables;
  to->length = by_block ? block : ACCESS_BLOCKS * block;
  to->pieces = by_block ? variables * ACCESS_BLOCKS : variables;
  to->calls = variables; /* it writes one variable after the other */
  to->bytes = variables * ACCESS_BLOCKS * block * (uint64_t)to->clients;
  return NULL;
}

static const char* make_overlap(access_pattern* to, const access_request* from) {
  const uint64_t times = (uint64_t)(from->times > 0 ? from->times : 1);
  if (to->clients != 1) return "overlap is of one client";
  if (from->times < 1 || from->piece % (4 * times) != 0)
    return "a piece must be a whole number of words for each time";
  to->step = from->piece / times;
  if (from->bytes < from->piece || (from->bytes - from->piece) % to->step != 0) {
    return "the file must be a whole number of steps";
  }
  to->length = from->piece;
  to->pieces = (from->bytes - from->piece) / to->step + 1;
  to->calls = to->pieces;
  to->bytes = from->bytes;
  return NULL;
}

const char* access_pattern_make(access_pattern* to, const access_request* from) {
  memset(to, 0, sizeof *to);
  size_t kind = 0;
  while (kind < sizeof kinds / sizeof *kinds && strcmp(kinds[kind], from->kind) != 0) ++kind;
  if (kind == sizeof kinds / sizeof *kinds) {
    return "expected rows, overlap, behind, checkpoint, plot, corners or tiles";
  }
  to->kind = (access_kind)kind;
  to->clients = from->clients;
  if (from->clients < 1 || from->clients > 4096) return "expected 1 to 4096 clients";
  if (access_pattern_is_flash(to)) return make_flash(to, from->by_block);
  if (from->piece == 0 || from->piece % 4 != 0) return "a piece must be a whole number of 4-byte words";
  if (to->kind == ACCESS_OVERLAP) return make_overlap(to, from);
  const uint64_t of_all = from->piece * (uint64_t)from->clients;
  if (from->bytes == 0 || from->bytes % of_all != 0) return "all clients must have as many whole pieces";
  to->length = from->piece;
  to->pieces = from->bytes / of_all;
  to->calls = 1;
  to->bytes = from->bytes;
  to->columns = columns_of(to->clients);
  return NULL;
}

uint64_t access_pattern_offset(const access_pattern* of, int client, uint64_t index) {
  const uint64_t clients = (uint64_t)of->clients;
  const uint64_t number = (uint64_t)client;
  const uint64_t columns = (uint64_t)of->columns;
  switch (of->kind) {
    case ACCESS_ROWS:
    case ACCESS_BEHIND: return (index * clients + number) * of->length;
    case ACCESS_OVERLAP: return index * of->step;
    case ACCESS_CHECKPOINT:
    case ACCESS_PLOT:
    case ACCESS_CORNERS: {
      /* Each variable is one array over all blocks of all clients. */
      const uint64_t each = of->pieces / (uint64_t)of->variables; /* pieces of a client and variable */
      return ((index / each * clients + number) * each + index % each) * of->length;
    }
    case ACCESS_TILES: {
      const uint64_t row = number / columns * of->pieces + index;
      return (row * columns + number % columns) * of->length;
    }
  }
  return 0;
}

int access_pattern_is_flash(const access_pattern* of) {
  return of->kind == ACCESS_CHECKPOINT || of->kind == ACCESS_PLOT || of->kind == ACCESS_CORNERS;
}

uint64_t access_pattern_value(const access_pattern* of) {
  return of->kind == ACCESS_CHECKPOINT ? sizeof(double) : sizeof(float);
}
