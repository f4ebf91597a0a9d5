/* check.h: the functions that the examples of this folder call on failure; they do not count as user code.
 *
 * Each example is what a program adds to write one block of 128 MiB in each iteration, without the marks around the
 * counted lines. A test compiles the examples and never runs them: the pattern program measures these ways.
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
