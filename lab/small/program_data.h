/* The memory of a client of an access pattern, as the program has it, and the final contents of the file.
 *
 * Each 4-byte word of the file contains its place (and, where pieces overlap, its owner), so that missing, misplaced
 * and old words are found. Flash-I/O's blocks have guard cells in memory, which are not written: its pieces are
 * packed first, as that program does (without its averaging of corners).
 */
#ifndef BENCH_SMALL_PROGRAM_DATA_H
#define BENCH_SMALL_PROGRAM_DATA_H

#include "access_pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How much memory a client has. */
uint64_t program_data_bytes(const access_pattern* pattern);

/* Computes it all, guard cells too. */
void program_data_fill(const access_pattern* pattern, int client, char* memory);

/* Returns the bytes of `count` pieces from number `first` on, side by side: packed into `packed`, which has room for
 * them, or as they are in memory. */
const char* program_data_of(const access_pattern* pattern, uint64_t first, uint64_t count, const char* memory,
                            char* packed);

/* Returns how many bytes of the file are wrong; a missing or additional byte counts. Returns -1 if the file cannot be
 * read, and errno says why. */
int64_t program_data_wrong(const access_pattern* pattern, const char* file);

#ifdef __cplusplus
}
#endif

#endif
