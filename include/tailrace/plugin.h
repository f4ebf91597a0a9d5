/* plugin.h: what a function in a dynamic library must look like so that tailrace can run it as an action.
 *
 * The configuration binds it to an event:  actions: - {on: storm, run: "library:libtrack.so:locate"}
 *
 *   #include <tailrace/plugin.h>
 *   TAILRACE_PLUGIN
 *   TAILRACE_PLUGIN_EXPORT int locate(const tailrace_plugin_call* call) {
 *     for (size_t i = 0; i < call->block_count; ++i) {
 *       const tailrace_plugin_block* block = tailrace_plugin_block_at(call, i);
 *       …read block->data…
 *     }
 *     call->report(call, "lowest", lowest);
 *     return 0;
 *   }
 *
 * Conventions:
 *  1. The function runs in a process of its own, beside tailrace's server: it can crash or hang without harm to the
 *     data. It is called by one thread, one call at a time. Functions of one library share that process.
 *  2. The bytes of the blocks lie in the memory in which the simulation's processes handed them over: no copy, and
 *     read-only. Writing to them ends the process.
 *  3. Everything that the call points to is tailrace's and lives until the function returns. Whoever needs it later
 *     takes a copy. What the function hands to a callback is copied before the callback returns.
 *  4. The callbacks may be called by the thread that the function was called on, and only before it returns.
 *  5. A function that returns other than 0, throws a C++ exception, crashes, or runs longer than the action's `limit`
 *     is reported to the clients and not called again. What it was given is stored all the same.
 *  6. Standard output and standard error go to tailrace's log, up to a limit; standard input is empty.
 *  7. Structures grow at their end only. `struct_size` and `block_stride` say how much of them this tailrace knows.
 *  8. Strings are UTF-8, ended by NUL. Arrays are in C order, in the machine's byte order, dense.
 */
#ifndef TAILRACE_PLUGIN_H
#define TAILRACE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <tailrace/tailrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a plugin built for the old one can no longer be called. Growth as in convention 7 does not raise it. */
#define TAILRACE_PLUGIN_ABI 1

/* One block, as one client handed it over. */
typedef struct tailrace_plugin_block {
  const char* variable; /* its name in the configuration */
  const char* unit;     /* as the configuration has it; "1" for none */
  int64_t iteration;    /* older than the call's for blocks that `keep` has kept */
  int32_t source;       /* id of the client it comes from */
  int32_t type;         /* a tailrace_type */
  int32_t rank;         /* 1 … TAILRACE_MAX_RANK */
  int32_t reserved;
  uint64_t shape[TAILRACE_MAX_RANK];        /* of the block, slowest dimension first; unused ones are 0, as below */
  uint64_t global_shape[TAILRACE_MAX_RANK]; /* of the whole array */
  uint64_t offset[TAILRACE_MAX_RANK];       /* of the block in the whole array */
  const void* data;                         /* aligned to a cache line; read-only */
  uint64_t bytes;
} tailrace_plugin_block;

/* One call of an action: an event of an iteration, who raised it, and the blocks that the action gets. */
typedef struct tailrace_plugin_call tailrace_plugin_call;
struct tailrace_plugin_call {
  size_t struct_size;
  uint32_t abi; /* TAILRACE_PLUGIN_ABI of this tailrace */
  uint32_t reserved;
  const char* event; /* "end_iteration", or the name that was given to tailrace_signal */
  int64_t iteration;
  size_t client_count;
  const int32_t* clients; /* who raised the event, in ascending order */
  size_t block_count;
  size_t block_stride;                 /* bytes from one block to the next: use tailrace_plugin_block_at */
  const tailrace_plugin_block* blocks; /* by variable in the configuration's order, then iteration, then source */

  /* Results. They go to the log and to the attributes of the iteration's file. `key` is not empty; a key that is
   * given again replaces its value. What is too much (16 MiB in all) makes the call fail. */
  void (*report)(const tailrace_plugin_call* call, const char* key, double value);
  void (*report_text)(const tailrace_plugin_call* call, const char* key, const char* text);
  void (*report_array)(const tailrace_plugin_call* call, const char* key, const double* values, size_t count);
  /* A line for the log. */
  void (*message)(const tailrace_plugin_call* call, const char* text);
  /* What is wrong, for the error that the function is about to return. */
  void (*error)(const tailrace_plugin_call* call, const char* text);

  void* host; /* tailrace's own */
};

/* 0, or an error, whose text `call->error` may have given. */
typedef int (*tailrace_plugin_function)(const tailrace_plugin_call* call);

static inline const tailrace_plugin_block* tailrace_plugin_block_at(const tailrace_plugin_call* call, size_t index) {
  return (const tailrace_plugin_block*)(const void*)((const char*)call->blocks + index * call->block_stride);
}

#ifdef __cplusplus
#define TAILRACE_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define TAILRACE_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* Once in each library: says for which ABI its functions were built. A library without it is refused. */
#define TAILRACE_PLUGIN                                      \
  TAILRACE_PLUGIN_EXPORT uint32_t tailrace_plugin_abi(void); \
  TAILRACE_PLUGIN_EXPORT uint32_t tailrace_plugin_abi(void) { return TAILRACE_PLUGIN_ABI; }

#ifdef __cplusplus
}
#endif

#endif /* TAILRACE_PLUGIN_H */
