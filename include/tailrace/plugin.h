/* plugin.h: the interface of functions in dynamic libraries that tailrace runs as actions.
 *
 * The configuration binds a function to an event:  actions: - {on: storm, run: "library:libtrack.so:locate"}
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
 *  3. All data that the call points to belong to tailrace and live until the function returns. A function that needs
 *     them later copies them. A callback copies its arguments before it returns.
 *  4. Only the thread that runs the function may call the callbacks, and only before the function returns.
 *  5. A function that returns other than 0, throws a C++ exception, crashes, or runs longer than the action's `limit`
 *     is reported to the clients and not called again. The data of its call are stored all the same.
 *  6. Standard output and standard error go to tailrace's log, up to a limit; standard input is empty.
 *  7. Structures grow only at their end. `struct_size` and `block_stride` are the sizes that this tailrace knows.
 *  8. Strings are UTF-8 and end with NUL. Arrays are in C order, in the machine's byte order, dense.
 */
#ifndef TAILRACE_PLUGIN_H
#define TAILRACE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <tailrace/tailrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increases when plugins built for the old ABI can no longer be called. Growth as in convention 7 does not
 * increase it. */
#define TAILRACE_PLUGIN_ABI 1

/* One block, as one client handed it over. */
typedef struct tailrace_plugin_block {
  const char* variable; /* its name in the configuration */
  const char* unit;     /* as written in the configuration; "1" for none */
  int64_t iteration;    /* earlier than the call's for blocks that `keep` has kept */
  int32_t source;       /* id of the client that it comes from */
  int32_t type;         /* a tailrace_type */
  int32_t rank;         /* 1 … TAILRACE_MAX_RANK; a scalar has the shape [1] */
  int32_t reserved;
  uint64_t shape[TAILRACE_MAX_RANK];        /* slowest dimension first; unused entries are 0, as below */
  uint64_t global_shape[TAILRACE_MAX_RANK]; /* of the whole array */
  uint64_t offset[TAILRACE_MAX_RANK];       /* of the block in the whole array */
  const void* data;                         /* aligned to a cache line; read-only */
  uint64_t bytes;
} tailrace_plugin_block;

/* One call of an action: an event of an iteration, the clients that raised it, and the blocks for the action. */
typedef struct tailrace_plugin_call tailrace_plugin_call;
struct tailrace_plugin_call {
  size_t struct_size;
  uint32_t abi; /* TAILRACE_PLUGIN_ABI of this tailrace */
  uint32_t reserved;
  const char* event; /* "end_iteration", or the name given to tailrace_signal */
  int64_t iteration;
  size_t client_count;
  const int32_t* clients; /* the clients that raised the event, in ascending order */
  size_t block_count;
  size_t block_stride;                 /* bytes from one block to the next: use tailrace_plugin_block_at */
  const tailrace_plugin_block* blocks; /* by variable in the configuration's order, then iteration, then source */

  /* Report results, which go to the log and to the attributes of the iteration's file. `key` is not empty;
   * repeating a key replaces its value. The call fails if the results exceed 16 MiB. */
  void (*report)(const tailrace_plugin_call* call, const char* key, double value);
  void (*report_text)(const tailrace_plugin_call* call, const char* key, const char* text);
  void (*report_array)(const tailrace_plugin_call* call, const char* key, const double* values, size_t count);
  /* Writes a line to the log. */
  void (*message)(const tailrace_plugin_call* call, const char* text);
  /* Sets the text of the error that the function is about to return. */
  void (*error)(const tailrace_plugin_call* call, const char* text);

  void* host; /* for tailrace's use */
};

/* Returns 0, or an error, whose text it may have set by `call->error`. */
typedef int (*tailrace_plugin_function)(const tailrace_plugin_call* call);

static inline const tailrace_plugin_block* tailrace_plugin_block_at(const tailrace_plugin_call* call, size_t index) {
  return (const tailrace_plugin_block*)(const void*)((const char*)call->blocks + index * call->block_stride);
}

#ifdef __cplusplus
#define TAILRACE_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define TAILRACE_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* Used once in each library: states the ABI for which its functions were built. A library without it is refused. */
#define TAILRACE_PLUGIN                                      \
  TAILRACE_PLUGIN_EXPORT uint32_t tailrace_plugin_abi(void); \
  TAILRACE_PLUGIN_EXPORT uint32_t tailrace_plugin_abi(void) { return TAILRACE_PLUGIN_ABI; }

#ifdef __cplusplus
}
#endif

#endif /* TAILRACE_PLUGIN_H */
