/* check.h: what the examples of this folder call on failure; not counted as their users' code.
 *
 * Each example is what a program adds to write one block of 128 MiB an iteration, without its marks of the beginning
 * and the end of what is counted. They are compiled by a test, never run: the pattern program measures these ways.
 */
#ifndef TAILRACE_BENCH_PEERS_CHECK_H
#define TAILRACE_BENCH_PEERS_CHECK_H

/* Ends the program, with a message, unless `good`. */
void check(int good);

enum { kElements = 16777216 };
static const unsigned long kBytes = sizeof(double) * kElements;

/* What the program calls: before its loop, twice an iteration, and after its loop. */
void open_output(void);
double* block(int iteration);
void put(int iteration);
void finish(void);

#endif
