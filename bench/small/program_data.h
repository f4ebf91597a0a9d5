/* The memory of a client of an access pattern, as the program has it, and what must be in the file in the end.
 *
 * Each 4-byte word of the file says where it is (and, where pieces overlap, whose it is), so that whatever is
 * missing, misplaced or too old is seen. Flash-I/O's blocks have guard cells in memory, which are not written: its
 * pieces are packed first, as that program does (but for the averaging of corners).
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

/* The bytes of `count` pieces from number `first` on, one after the other: packed into `packed`, which has room for
 * them, or as they lie in memory. */
const char* program_data_of(const access_pattern* pattern, uint64_t first, uint64_t count, const char* memory,
                            char* packed);

/* How many bytes of the file are not what they must be; one that is missing or too much counts. -1: it cannot be
 * read, and errno says why. */
int64_t program_data_wrong(const access_pattern* pattern, const char* file);

#ifdef __cplusplus
}
#endif

#endif
