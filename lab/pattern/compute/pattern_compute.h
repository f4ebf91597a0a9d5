/* pattern_compute.h: the compute kernels of the pattern program for other programs, in C and for ctypes.
 *
 * The peers' benchmarks use this library, so that their computation is the same as tailrace's. One thread at a time
 * may use a worker. No call throws or prints. */
#ifndef TAILRACE_BENCH_PATTERN_COMPUTE_H
#define TAILRACE_BENCH_PATTERN_COMPUTE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PATTERN_API __attribute__((visibility("default")))
#else
#define PATTERN_API
#endif

/* Returns a worker of kernel "busy", "jacobi", … on `threads` threads with its arrays in `memory`, "heap" or
 * "static". Returns NULL for unknown names, threads out of range, no memory, or static memory that another worker
 * uses. */
PATTERN_API void* pattern_compute_new(const char* kernel, int threads, const char* memory);

/* Computes this many more passes. */
PATTERN_API void pattern_compute_run(void* worker, uint64_t passes);

/* A number that depends on all the passes so far. */
PATTERN_API double pattern_compute_result(void* worker);

/* Ends its threads and gives its memory back. NULL is allowed. */
PATTERN_API void pattern_compute_free(void* worker);

#ifdef __cplusplus
}
#endif

#endif /* TAILRACE_BENCH_PATTERN_COMPUTE_H */
