#include "program_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4, CHUNK = 1 << 20 };

static uint32_t hash_of(uint64_t offset, uint64_t version) {
  uint64_t x = offset / WORD * 0x9e3779b97f4a7c15u + version * 0xbf58476d1ce4e5b9u + 1;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 29;
  return (uint32_t)(x >> 16);
}

/* Of plot files: a number that single precision has exactly. */
static float number_of(uint64_t offset) { return (float)(hash_of(offset, 0) & 0xffffff); }

/* The last piece that has the word. */
static uint64_t version_of(const access_pattern* of, uint64_t offset) {
  if (of->kind != ACCESS_OVERLAP) return 0;
  const uint64_t piece = offset / of->step;
  return piece < of->pieces ? piece : of->pieces - 1;
}

static uint32_t word_of(const access_pattern* of, uint64_t offset) {
  uint32_t word;
  if (of->kind != ACCESS_PLOT && of->kind != ACCESS_CORNERS) return hash_of(offset, version_of(of, offset));
  const float number = number_of(offset);
  memcpy(&word, &number, sizeof word);
  return word;
}

/* ---- Flash-I/O's blocks: variables, blocks, and 16^3 doubles each -------------------------------------------- */

enum { ROW = ACCESS_WITH_GUARD, BLOCK = ROW * ROW * ROW };

static double* block_of(char* memory, uint64_t block) { return (double*)memory + block * BLOCK; }

/* The first of the values in a row of a block that are written. */
static size_t row_of(int k, int j) {
  return (size_t)(((k + ACCESS_GUARD) * ROW + j + ACCESS_GUARD) * ROW + ACCESS_GUARD);
}

static double value_at(const access_pattern* of, uint64_t offset) {
  double value;
  uint32_t words[2];
  if (of->kind != ACCESS_CHECKPOINT) return (double)number_of(offset);
  words[0] = hash_of(offset, 0);
  words[1] = hash_of(offset + WORD, 0);
  memcpy(&value, words, sizeof value);
  return value;
}

static void fill_block(const access_pattern* of, uint64_t offset, double* block) {
  for (int k = 0; k < of->edge; ++k) {
    for (int j = 0; j < of->edge; ++j) {
      double* const row = block + row_of(k, j);
      for (int i = 0; i < of->edge; ++i, offset += access_pattern_value(of)) row[i] = value_at(of, offset);
    }
  }
}

static char* pack_block(const access_pattern* of, const double* block, char* to) {
  for (int k = 0; k < of->edge; ++k) {
    for (int j = 0; j < of->edge; ++j) {
      const double* const row = block + row_of(k, j);
      if (of->kind == ACCESS_CHECKPOINT) {
        memcpy(to, row, (size_t)of->edge * sizeof(double));
      } else {
        float single[ROW];
        for (int i = 0; i < of->edge; ++i) single[i] = (float)row[i];
        memcpy(to, single, (size_t)of->edge * sizeof(float));
      }
      to += (uint64_t)of->edge * access_pattern_value(of);
    }
  }
  return to;
}

static uint64_t blocks_of_piece(const access_pattern* of) {
  return (uint64_t)of->variables * ACCESS_BLOCKS / of->pieces;
}

static void fill_flash(const access_pattern* of, int client, char* memory) {
  const uint64_t each = blocks_of_piece(of);
  memset(memory, 0xff, program_data_bytes(of)); /* guard cells are no number */
  for (uint64_t piece = 0; piece < of->pieces; ++piece) {
    const uint64_t begin = access_pattern_offset(of, client, piece);
    for (uint64_t i = 0; i < each; ++i) {
      fill_block(of, begin + i * (of->length / each), block_of(memory, piece * each + i));
    }
  }
}

/* ---- all patterns -------------------------------------------------------------------------------------------- */

uint64_t program_data_bytes(const access_pattern* of) {
  if (access_pattern_is_flash(of)) return (uint64_t)of->variables * ACCESS_BLOCKS * BLOCK * sizeof(double);
  return of->pieces * of->length;
}

void program_data_fill(const access_pattern* of, int client, char* memory) {
  if (access_pattern_is_flash(of)) {
    fill_flash(of, client, memory);
    return;
  }
  for (uint64_t piece = 0; piece < of->pieces; ++piece) {
    const uint64_t begin = access_pattern_offset(of, client, piece);
    const uint64_t version = of->kind == ACCESS_OVERLAP ? piece : 0;
    for (uint64_t at = 0; at < of->length; at += WORD, memory += WORD) {
      const uint32_t word = hash_of(begin + at, version);
      memcpy(memory, &word, sizeof word);
    }
  }
}

const char* program_data_of(const access_pattern* of, uint64_t first, uint64_t count, const char* memory,
                            char* packed) {
  if (!access_pattern_is_flash(of)) return memory + first * of->length;
  const uint64_t each = blocks_of_piece(of);
  const double* block = (const double*)memory + first * each * BLOCK;
  char* to = packed;
  for (uint64_t i = 0; i < count * each; ++i, block += BLOCK) to = pack_block(of, block, to);
  return packed;
}

static int64_t count_wrong(const access_pattern* of, FILE* file, char* chunk) {
  int64_t wrong = 0;
  uint64_t offset = 0;
  for (size_t got; (got = fread(chunk, 1, CHUNK, file)) > 0; offset += got) {
    for (size_t at = 0; at < got; at += WORD) {
      const uint32_t word = word_of(of, offset + at);
      if (offset + at >= of->bytes || got - at < WORD || memcmp(chunk + at, &word, WORD) != 0) wrong += WORD;
    }
  }
  if (ferror(file)) return -1;
  return wrong + (int64_t)(offset < of->bytes ? of->bytes - offset : 0);
}

int64_t program_data_wrong(const access_pattern* of, const char* name) {
  FILE* const file = fopen(name, "rb");
  char* const chunk = malloc(CHUNK);
  const int64_t wrong = file != NULL && chunk != NULL ? count_wrong(of, file, chunk) : -1;
  free(chunk);
  if (file != NULL) fclose(file);
  return wrong;
}
